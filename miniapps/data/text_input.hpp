// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "part.hpp"

namespace tutti::data {

/// A file of Criteo text.
struct TextFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;   ///< as it lies on the disk
  std::int64_t changed = 0;  ///< nanoseconds
  bool is_packed = false;    ///< compressed
};

/// The files that the inputs name: files, or folders of day_0, day_1, ..., with or without an ending, by their number.
/// Throws tutti::Error, one line, for what is missing, empty or compressed in a way that this build does not read.
[[nodiscard]] std::vector<TextFile> find_text_files(const std::vector<std::string>& inputs);

/// The samples of the lines that begin in bytes [begin, end) of a plain file. Throws tutti::Error (io), naming line and
/// field, for the first malformed line.
[[nodiscard]] Samples parse_range(const TextFile& file, std::uint64_t begin, std::uint64_t end);

/// Parses a compressed file piece by piece, each of `piece_bytes` of text and the rest of its last line. Calls
/// use(piece, samples, is_last) for each; `wanted(piece)` false leaves out the parsing. Throws as parse_range, and for
/// a damaged or cut file.
void parse_packed(const TextFile& file, std::uint64_t piece_bytes, const std::function<bool(std::uint64_t)>& wanted,
                  const std::function<void(std::uint64_t, Samples&, bool)>& use);

}  // namespace tutti::data
