// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::miniapps {

/// One person of the Adult data.
struct AdultRow {
  enum Text { workclass, education, marital, occupation, relationship, race, sex, country, text_count };
  enum Number { age, weight, education_years, capital_gain, capital_loss, hours, number_count };
  std::array<std::string, text_count> texts;  ///< a missing value is "?"
  std::array<double, number_count> numbers{};
  bool above = false;  ///< more than 50,000 a year
};

/// Parses the lines of adult.data or adult.test; `name` is used in messages. Throws tutti::Error (io) with the number
/// of the first malformed line.
[[nodiscard]] std::vector<AdultRow> parse_adult(std::string_view content, const std::string& name);

/// The dense features of a row, before they are standardised.
[[nodiscard]] std::vector<double> adult_dense(const AdultRow& row);

/// The value of a row in each categorical column: the given columns, bucketised numbers, crosses.
[[nodiscard]] std::vector<std::string> adult_categories(const AdultRow& row);

}  // namespace tutti::miniapps
