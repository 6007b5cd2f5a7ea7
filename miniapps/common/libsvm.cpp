// SPDX-License-Identifier: BSD-3-Clause
#include "libsvm.hpp"

#include <charconv>
#include <tutti/error.hpp>

#include "data_files.hpp"
#include "text_lines.hpp"

namespace tutti::miniapps {

namespace {

/// The next word of a line, taken off it; empty at the end.
std::string_view take_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::string parse_pair(std::string_view word, std::uint64_t& last, SparseSamples& samples) {
  const auto colon = word.find(':');
  std::uint64_t index = 0;
  double value = 0;
  if (colon == std::string_view::npos || !parse_whole(word.substr(0, colon), index) ||
      !parse_whole(word.substr(colon + 1), value)) {
    return "'" + std::string(word) + "' is not of the form index:value";
  }
  if (index == 0 || index > UINT32_MAX) {
    return "index " + std::to_string(index) + " is not in [1, 2^32)";
  }
  if (index <= last) {
    return "index " + std::to_string(index) + " follows " + std::to_string(last) + "; indices must ascend";
  }
  last = index;
  samples.columns.push_back(static_cast<std::uint32_t>(index - 1));
  samples.values.push_back(value);
  return {};
}

std::string parse_line(std::string_view line, SparseSamples& samples) {
  const auto word = take_word(line);
  double label = 0;
  if (!parse_whole(word.starts_with('+') ? word.substr(1) : word, label)) {
    return "'" + std::string(word) + "' is not a label";
  }
  std::uint64_t last = 0;
  for (auto pair = take_word(line); !pair.empty(); pair = take_word(line)) {
    if (auto error = parse_pair(pair, last, samples); !error.empty()) {
      return error;
    }
  }
  samples.labels.push_back(label);
  samples.offsets.push_back(samples.columns.size());
  samples.width = std::max(samples.width, static_cast<std::size_t>(last));
  return {};
}

}  // namespace

SparseSamples parse_libsvm(std::string_view content, const std::string& name) {
  SparseSamples samples;
  for_each_line(content, [&](std::string_view line, std::size_t number) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) {
      return;
    }
    if (const auto error = parse_line(line, samples); !error.empty()) {
      throw Error(ErrorCode::io, name + ": line " + std::to_string(number) + ": " + error);
    }
  });
  if (samples.labels.empty()) {
    throw Error(ErrorCode::io, name + ": has no samples");
  }
  return samples;
}

SparseSamples read_libsvm(const std::filesystem::path& path) {
  return parse_libsvm(read_maybe_gzip(path), path.string());
}

}  // namespace tutti::miniapps
