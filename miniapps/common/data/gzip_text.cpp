// SPDX-License-Identifier: BSD-3-Clause
#include "gzip_text.hpp"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <tutti/error.hpp>

#include "common/criteo_line.hpp"
#include "mapped_file.hpp"

namespace tutti::miniapps {

namespace {

constexpr unsigned gzip_block = 1U << 20U;
constexpr std::size_t longest_line = 16 * std::size_t{gzip_block};

[[noreturn]] void fail_gzip(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

}  // namespace

bool is_gzip(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x1f && file.get() == 0x8b;
}

GzipText::GzipText(const std::filesystem::path& path) : path_(path), file_(::gzopen(path.c_str(), "rb"), ::gzclose_r) {
  if (!file_) {
    fail_gzip(path, "cannot be opened");
  }
  (void)::gzbuffer(file_.get(), gzip_block);
}

bool GzipText::next(std::uint64_t bytes, std::string& piece) {
  std::size_t want = static_cast<std::size_t>(bytes);
  do {
    take(want, piece);
    want = rest_.size() + 1;
    if (piece.empty() && !ended_ && want > bytes + longest_line) {
      fail_gzip(path_, "has a line of more than " + std::to_string(longest_line) + " bytes; is it text?");
    }
  } while (piece.empty() && !ended_);
  rest_.erase(0, piece.size());
  rest_.erase(0, rest_.starts_with('\r') ? 1 : 0);
  rest_.erase(0, rest_.starts_with('\n') ? 1 : 0);
  return !ended_ || !without_blank_end(rest_).empty();
}

void GzipText::take(std::size_t want, std::string& piece) {
  while (!ended_ && rest_.size() < want) {
    fill();
  }
  const std::size_t end = rest_.size() < want ? std::string::npos : rest_.find('\n', want - 1);
  piece.clear();
  if (end != std::string::npos || ended_) {
    piece = without_blank_end(std::string_view(rest_).substr(0, end));
  }
}

void GzipText::fill() {
  const std::size_t before = rest_.size();
  rest_.resize(before + gzip_block);
  const int got = ::gzread(file_.get(), rest_.data() + before, gzip_block);
  rest_.resize(before + static_cast<std::size_t>(std::max(got, 0)));
  int status = Z_OK;
  ::gzerror(file_.get(), &status);
  if (got < 0 || status < 0) {
    fail_gzip(path_, "is a damaged or truncated gzip file; copy it again");
  }
  ended_ = got < static_cast<int>(gzip_block);
}

void for_each_text(const std::filesystem::path& path, const std::function<void(std::string_view)>& use) {
  if (!is_gzip(path)) {
    const MappedFile file(path);
    return use(without_blank_end(file.content()));
  }
  GzipText text(path);
  std::string piece;
  for (bool more = true; more;) {
    more = text.next(longest_line, piece);
    use(piece);
  }
}

}  // namespace tutti::miniapps
