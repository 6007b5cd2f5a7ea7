// SPDX-License-Identifier: BSD-3-Clause
#include "adult_columns.hpp"

#include <charconv>
#include <cmath>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool parse_number(std::string_view text, double& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

/// Which array the 14 fields before the label go to.
constexpr std::array<int, 14> number_of_field{AdultRow::age,
                                              -1,
                                              AdultRow::weight,
                                              -1,
                                              AdultRow::education_years,
                                              -1,
                                              -1,
                                              -1,
                                              -1,
                                              -1,
                                              AdultRow::capital_gain,
                                              AdultRow::capital_loss,
                                              AdultRow::hours,
                                              -1};

bool parse_row(std::string_view line, AdultRow& row) {
  std::size_t text = 0;
  for (const int number : number_of_field) {
    const auto comma = line.find(',');
    if (comma == std::string_view::npos) {
      return false;
    }
    const auto field = trim(line.substr(0, comma));
    line.remove_prefix(comma + 1);
    if (number < 0) {
      row.texts[text++] = field;
    } else if (!parse_number(field, row.numbers[static_cast<std::size_t>(number)])) {
      return false;
    }
  }
  auto label = trim(line);
  if (!label.empty() && label.back() == '.') {
    label.remove_suffix(1);
  }
  row.above = label == ">50K";
  return row.above || label == "<=50K";
}

std::string bucket(double value, double width) { return std::to_string(static_cast<long>(std::floor(value / width))); }

/// Steps of an eighth of an e-fold; 0 is a bucket of its own.
std::string log_bucket(double value) { return value <= 0 ? "none" : bucket(std::log(value), 0.125); }

}  // namespace

std::vector<AdultRow> parse_adult(std::string_view content, const std::string& name) {
  std::vector<AdultRow> rows;
  std::size_t number = 0;
  while (!content.empty()) {
    const auto end = content.find('\n');
    const auto line = trim(content.substr(0, end));
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    ++number;
    if (line.empty() || line.front() == '|') {
      continue;
    }
    AdultRow row;
    if (!parse_row(line, row)) {
      throw Error(ErrorCode::io, name + ": line " + std::to_string(number) + " is malformed");
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    throw Error(ErrorCode::io, name + ": has no rows");
  }
  return rows;
}

std::vector<double> adult_dense(const AdultRow& row) {
  const auto& n = row.numbers;
  return {n[AdultRow::age],
          n[AdultRow::age] * n[AdultRow::age],
          std::log1p(n[AdultRow::capital_gain]),
          std::log1p(n[AdultRow::capital_loss]),
          n[AdultRow::hours],
          n[AdultRow::education_years],
          std::log1p(n[AdultRow::weight])};
}

std::vector<std::string> adult_categories(const AdultRow& row) {
  const auto& t = row.texts;
  const auto& n = row.numbers;
  const std::string age = bucket(n[AdultRow::age], 5);
  const std::string hours = bucket(n[AdultRow::hours], 5);
  const std::string gain = log_bucket(n[AdultRow::capital_gain]);
  const std::string loss = log_bucket(n[AdultRow::capital_loss]);
  std::vector<std::string> columns(t.begin(), t.end());
  columns.insert(columns.end(), {age, hours, gain, loss});
  columns.push_back(t[AdultRow::education] + "|" + t[AdultRow::occupation]);
  columns.push_back(t[AdultRow::relationship] + "|" + age);
  columns.push_back(t[AdultRow::occupation] + "|" + t[AdultRow::workclass]);
  columns.push_back(bucket(n[AdultRow::capital_gain], 1));
  columns.push_back(bucket(n[AdultRow::capital_loss], 1));
  return columns;
}

}  // namespace tutti::miniapps
