// SPDX-License-Identifier: BSD-3-Clause
#include "adult.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "data_files.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

namespace {

/// One person of the Adult data.
struct AdultRow {
  enum Text { workclass, education, marital, occupation, relationship, race, sex, country, text_count };
  enum Number { age, weight, education_years, capital_gain, capital_loss, hours, number_count };
  std::array<std::string, text_count> texts;  ///< a missing value is "?"
  std::array<double, number_count> numbers{};
  bool above = false;  ///< more than 50,000 a year
};

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

/// Parses the lines of adult.data or adult.test; `name` is used in messages. Throws tutti::Error (io) with the number
/// of the first malformed line.
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

/// The dense features of a row, before they are standardised.
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

/// The value of a row in each categorical column: the given columns, bucketised numbers, crosses.
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

constexpr std::size_t rare_below = 5;  ///< categories with fewer training rows share row 0

/// Mean and deviation of the training values of each dense feature.
struct Standard {
  std::vector<double> mean;
  std::vector<double> deviation;
};

Standard standard_of(const std::vector<AdultRow>& rows) {
  Standard s;
  for (const AdultRow& row : rows) {
    const auto dense = adult_dense(row);
    s.mean.resize(dense.size());
    s.deviation.resize(dense.size());
    for (std::size_t j = 0; j < dense.size(); ++j) {
      s.mean[j] += dense[j];
      s.deviation[j] += dense[j] * dense[j];
    }
  }
  const auto n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < s.mean.size(); ++j) {
    s.mean[j] /= n;
    s.deviation[j] = std::sqrt(std::max(s.deviation[j] / n - s.mean[j] * s.mean[j], 1e-12));
  }
  return s;
}

using Dictionary = std::map<std::string, std::int32_t>;

/// Numbers from 1, in alphabetical order, for what is frequent in training.
std::vector<Dictionary> dictionaries_of(const std::vector<AdultRow>& rows) {
  std::vector<std::map<std::string, std::size_t>> counts;
  for (const AdultRow& row : rows) {
    const auto values = adult_categories(row);
    counts.resize(values.size());
    for (std::size_t t = 0; t < values.size(); ++t) {
      ++counts[t][values[t]];
    }
  }
  std::vector<Dictionary> dictionaries(counts.size());
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (const auto& [value, count] : counts[t]) {
      if (count >= rare_below) {
        const auto number = static_cast<std::int32_t>(dictionaries[t].size() + 1);
        dictionaries[t].emplace(value, number);
      }
    }
  }
  return dictionaries;
}

std::vector<AdultRow> load(const std::filesystem::path& folder, const std::string& name) {
  const auto path = folder.empty() ? find_data("adult/" + name) : folder / name;
  return parse_adult(read_maybe_gzip(path), path.string());
}

}  // namespace

Adult::Adult(std::uint32_t seed, const std::filesystem::path& folder) : seed_(seed) {
  const auto train = load(folder, "adult.data.gz");
  const auto test = load(folder, "adult.test.gz");
  const Standard standard = standard_of(train);
  const auto dictionaries = dictionaries_of(train);
  dense_features_ = standard.mean.size();
  for (const Dictionary& dictionary : dictionaries) {
    rows_.push_back(dictionary.size() + 1);
  }
  const auto fill = [&](const std::vector<AdultRow>& rows, SplitData& data) {
    for (const AdultRow& row : rows) {
      const auto dense = adult_dense(row);
      for (std::size_t j = 0; j < dense.size(); ++j) {
        data.dense.push_back(static_cast<float>((dense[j] - standard.mean[j]) / standard.deviation[j]));
      }
      const auto values = adult_categories(row);
      for (std::size_t t = 0; t < values.size(); ++t) {
        const auto found = dictionaries[t].find(values[t]);
        data.indices.push_back(found == dictionaries[t].end() ? 0 : found->second);
      }
      data.labels.push_back(row.above ? 1.0F : 0.0F);
    }
    data.order.resize(rows.size());
    std::iota(data.order.begin(), data.order.end(), 0U);
  };
  fill(train, train_);
  fill(test, test_);
  begin_epoch(0);
}

std::uint64_t Adult::samples(Split split) const {
  return split == Split::train ? train_.labels.size() : split == Split::test ? test_.labels.size() : 0;
}

std::string Adult::description() const {
  return "Adult census data, " + std::to_string(train_.labels.size()) + " training and " +
         std::to_string(test_.labels.size()) + " test samples";
}

void Adult::begin_epoch(std::uint64_t epoch) {
  std::iota(train_.order.begin(), train_.order.end(), 0U);
  NumpyRandom(seed_ + static_cast<std::uint32_t>(epoch)).shuffle(train_.order);
}

void Adult::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  const SplitData& data = split == Split::train ? train_ : test_;
  const auto order = std::span(data.order).subspan(k * batch_size, batch.count);
  float* dense = batch.dense.data();
  for (std::size_t i = 0; i < part.range.size(); ++i) {
    const std::size_t sample = order[part.range.begin + i];
    dense = std::copy_n(data.dense.data() + sample * dense_features_, dense_features_, dense);
    batch.labels[i] = data.labels[sample];
  }
  const SampleRange bagged = batch.bag_range();
  for (std::size_t t = 0; t < part.tables.size(); ++t) {
    const auto indices = make_one_hot(batch.tables[t], bagged.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = data.indices[order[bagged.begin + i] * rows_.size() + part.tables[t]];
    }
  }
}

}  // namespace tutti::miniapps
