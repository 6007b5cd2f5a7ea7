// SPDX-License-Identifier: BSD-3-Clause
#include "csv_features.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

#include "common/text_lines.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

[[noreturn]] void fail(const mini::CsvTable& table, std::size_t row, const std::string& what) {
  throw tutti::Error(tutti::ErrorCode::io, table.name + ": line " + std::to_string(table.lines[row]) + ": " + what);
}

/// The numbers of a column; empty where its cells are words. A cell that is no number among others that mostly are is a
/// mistake of the file.
std::vector<double> numbers_of(const mini::CsvTable& table, std::size_t column) {
  const auto& cells = table.columns[column];
  std::vector<double> numbers(cells.size());
  std::vector<std::size_t> words;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (!mini::parse_whole(std::string_view(cells[row]), numbers[row])) {
      words.push_back(row);
    }
  }
  if (words.empty()) {
    return numbers;
  }
  if (2 * words.size() < cells.size()) {
    fail(table, words.front(),
         "'" + cells[words.front()] + "' in column " + table.names[column] + " is no number, as " +
             std::to_string(cells.size() - words.size()) + " of its " + std::to_string(cells.size()) +
             " cells are; correct the cell, or remove the line");
  }
  return {};
}

void standardise(const std::vector<double>& x, double& mean, double& deviation) {
  double sum = 0;
  for (const double v : x) {
    sum += v;
  }
  mean = sum / static_cast<double>(x.size());
  double squares = 0;
  for (const double v : x) {
    squares += (v - mean) * (v - mean);
  }
  deviation = std::sqrt(squares / static_cast<double>(x.size()));
  deviation = deviation > 0 ? deviation : 1;
}

}  // namespace

CsvFeatures::CsvFeatures(const mini::CsvTable& train, const std::string& label)
    : label_(train.column(label)), columns_(train.columns.size()) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const auto numbers = numbers_of(train, c);
    column.numeric = !numbers.empty();
    column.first = width_;
    if (column.numeric) {
      standardise(numbers, column.mean, column.deviation);
    } else {
      for (const auto& cell : train.columns[c]) {
        column.values.emplace(cell, 0);
      }
      std::size_t next = 0;
      for (auto& [value, number] : column.values) {
        number = next++;
      }
    }
    width_ += c == label_ ? 0 : column.numeric ? 1 : column.values.size();
  }
}

void CsvFeatures::append(const mini::CsvTable& table, std::size_t row, std::size_t c, mini::SparseSamples& out) const {
  const Column& column = columns_[c];
  const std::string& cell = table.columns[c][row];
  double value = 1;
  std::size_t feature = column.first;
  if (column.numeric) {
    if (!mini::parse_whole(std::string_view(cell), value)) {
      fail(table, row, "'" + cell + "' in column " + table.names[c] + " is no number, as those of training are");
    }
    value = (value - column.mean) / column.deviation;
  } else {
    const auto found = column.values.find(cell);
    if (found == column.values.end()) {
      return;
    }
    feature += found->second;
  }
  out.columns.push_back(static_cast<std::uint32_t>(feature));
  out.values.push_back(value);
}

double CsvFeatures::label_of(const mini::CsvTable& table, std::size_t row) const {
  const Column& column = columns_[label_];
  const std::string& cell = table.columns[label_][row];
  double value = 0;
  if (column.numeric) {
    if (!mini::parse_whole(std::string_view(cell), value)) {
      fail(table, row, "the label '" + cell + "' is no number, as those of training are");
    }
    return value;
  }
  const auto found = column.values.find(cell);
  if (found == column.values.end()) {
    fail(table, row, "the label '" + cell + "' is none of training");
  }
  return static_cast<double>(found->second);
}

mini::SparseSamples CsvFeatures::convert(const mini::CsvTable& table) const {
  if (table.columns.size() != columns_.size()) {
    throw tutti::Error(tutti::ErrorCode::io, table.name + ": line " + std::to_string(table.lines.front()) + ": has " +
                                                 std::to_string(table.columns.size()) +
                                                 " cells, the training file's lines have " +
                                                 std::to_string(columns_.size()));
  }
  mini::SparseSamples out;
  out.width = width_;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c != label_) {
        append(table, row, c, out);
      }
    }
    out.labels.push_back(label_of(table, row));
    out.offsets.push_back(out.columns.size());
  }
  return out;
}

}  // namespace sgd
