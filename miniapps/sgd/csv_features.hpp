// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/csv.hpp"
#include "common/libsvm.hpp"

namespace sgd {

/// How the cells of a CSV file become features, learnt from the training rows: a column of numbers only is one feature,
/// less its mean and divided by its deviation; another one is a feature for each of its values (one-hot), where values
/// that training does not have give nothing. A label of text is numbered in alphabetical order.
class CsvFeatures {
 public:
  CsvFeatures(const tutti::miniapps::CsvTable& train, const std::string& label);
  /// The samples of a table of the same columns. Throws tutti::Error (io) with file and line: a cell that is no number
  /// in a column of numbers, a label that training does not have, other columns.
  [[nodiscard]] tutti::miniapps::SparseSamples convert(const tutti::miniapps::CsvTable& table) const;

 private:
  struct Column {
    bool numeric = false;
    double mean = 0;
    double deviation = 1;
    std::map<std::string, std::size_t> values;
    std::size_t first = 0;  ///< number of its first feature
  };
  void append(const tutti::miniapps::CsvTable& table, std::size_t row, std::size_t c,
              tutti::miniapps::SparseSamples& out) const;
  [[nodiscard]] double label_of(const tutti::miniapps::CsvTable& table, std::size_t row) const;

  std::size_t label_;
  std::vector<Column> columns_;  ///< that of the label too
  std::size_t width_ = 0;
};

}  // namespace sgd
