// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::miniapps {

/// Samples with few features each: sample i has columns[offsets[i] .. offsets[i + 1]) with their values.
struct SparseSamples {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> columns;  ///< from 0, ascending in a sample
  std::vector<double> values;
  std::vector<double> labels;
  std::size_t width = 0;  ///< largest column and one
};

/// Parses the text of a file in libsvm's format: a line is a label and index:value pairs, indices from 1 and ascending;
/// what follows # is a comment. `name` is used in messages. Throws tutti::Error (io) with the number of the first
/// malformed line and what is wrong with it. Source: Chang and Lin, LIBSVM, README of version 3.
[[nodiscard]] SparseSamples parse_libsvm(std::string_view content, const std::string& name);

/// The same of a file, which may be gzip.
[[nodiscard]] SparseSamples read_libsvm(const std::filesystem::path& path);

}  // namespace tutti::miniapps
