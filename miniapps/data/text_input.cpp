// SPDX-License-Identifier: BSD-3-Clause
#include "text_input.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "common/criteo_line.hpp"
#include "common/data/day_files.hpp"
#include "common/data/packed_text.hpp"

namespace tutti::data {

namespace {

namespace fs = std::filesystem;
using namespace miniapps;

[[noreturn]] void fail_text(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

TextFile look_at(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    fail_text(path, "is no file that can be read; name Criteo text, or a folder of day_*");
  }
  if (info.st_size == 0) {
    fail_text(path, "is empty; remove it, or copy it again");
  }
  const bool is_packed = packing_of(path) != Packing::none;
  if (is_packed) {
    (void)make_unpacker(path);  // which this build may lack
  }
  return {path, static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
          is_packed};
}

void add_line(const CriteoLine& line, Samples& samples) {
  samples.labels.push_back(line.label);
  for (std::size_t j = 0; j < criteo_dense; ++j) {
    samples.dense[j].push_back(line.dense[j]);
  }
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    samples.ids[t].push_back(line.hashes[t]);
  }
}

void reserve(Samples& samples, std::size_t text_bytes) {
  constexpr std::size_t usual_line = 200;
  const std::size_t lines = text_bytes / usual_line + 1;
  samples.labels.reserve(lines);
  for (auto& column : samples.dense) {
    column.reserve(lines);
  }
  for (auto& column : samples.ids) {
    column.reserve(lines);
  }
}

/// `lines_before(at)` is asked for a malformed line only: how many lines precede the one that begins at `at`.
template <typename LinesBefore>
Samples parse_text(const fs::path& path, std::string_view text, LinesBefore&& lines_before) {
  Samples samples(criteo_dense, criteo_tables);
  reserve(samples, text.size());
  CriteoLine line;
  CriteoLineFault fault;
  while (!text.empty()) {
    const char* begin = text.data();
    if (!parse_criteo_line(take_line(text), line, fault)) {
      fail_text(path, "line " + std::to_string(lines_before(begin) + 1) + ", field " + std::to_string(fault.field) +
                          ": " + fault.what + "; correct or remove the line");
    }
    add_line(line, samples);
  }
  return samples;
}

std::uint64_t count_lines(const char* begin, const char* end) {
  return static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}

/// Where the first line begins at or after `at`.
std::uint64_t line_start(std::string_view content, std::uint64_t at) {
  if (at == 0 || at >= content.size()) {
    return std::min<std::uint64_t>(at, content.size());
  }
  const std::size_t end = content.find('\n', at - 1);
  return end == std::string_view::npos ? content.size() : end + 1;
}

}  // namespace

std::vector<TextFile> find_text_files(const std::vector<std::string>& inputs) {
  std::vector<TextFile> files;
  for (const std::string& input : inputs) {
    for (const fs::path& path : text_files(input)) {
      files.push_back(look_at(path));
    }
  }
  return files;
}

Samples parse_range(const TextFile& file, std::uint64_t begin, std::uint64_t end) {
  const MappedFile mapped(file.path);
  const std::string_view content = without_blank_end(mapped.content());
  const std::uint64_t first = line_start(content, begin);
  const std::string_view text = content.substr(first, line_start(content, end) - first);
  return parse_text(file.path, text, [&](const char* at) { return count_lines(content.data(), at); });
}

void parse_packed(const TextFile& file, std::uint64_t piece_bytes, const std::function<bool(std::uint64_t)>& wanted,
                  const std::function<void(std::uint64_t, Samples&, bool)>& use) {
  PackedText text(file.path);
  std::string piece;
  std::uint64_t lines = 0;
  bool more = true;
  for (std::uint64_t number = 0; more; ++number) {
    more = text.next(piece_bytes, piece);
    const auto before = [&](const char* at) { return lines + count_lines(piece.data(), at); };
    if (wanted(number)) {
      Samples samples = parse_text(file.path, piece, before);
      use(number, samples, !more);
    }
    lines += piece.empty() ? 0 : count_lines(piece.data(), piece.data() + piece.size()) + 1;
  }
}

}  // namespace tutti::data
