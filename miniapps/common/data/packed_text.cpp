// SPDX-License-Identifier: BSD-3-Clause
#include "packed_text.hpp"

#include <algorithm>
#include <tutti/error.hpp>

#include "common/criteo_line.hpp"
#include "mapped_file.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::size_t unpacked_block = 1U << 20U;
constexpr std::size_t longest_line = 16 * unpacked_block;

}  // namespace

PackedText::PackedText(const std::filesystem::path& path) : path_(path), file_(make_unpacker(path)) {}

bool PackedText::next(std::uint64_t bytes, std::string& piece) {
  std::size_t want = static_cast<std::size_t>(bytes);
  do {
    take(want, piece);
    want = rest_.size() + 1;
    if (piece.empty() && !ended_ && want > bytes + longest_line) {
      throw Error(ErrorCode::io,
                  path_.string() + ": has a line of more than " + std::to_string(longest_line) + " bytes; is it text?");
    }
  } while (piece.empty() && !ended_);
  rest_.erase(0, piece.size());
  rest_.erase(0, rest_.starts_with('\r') ? 1 : 0);
  rest_.erase(0, rest_.starts_with('\n') ? 1 : 0);
  return !ended_ || !without_blank_end(rest_).empty();
}

void PackedText::take(std::size_t want, std::string& piece) {
  while (!ended_ && rest_.size() < want) {
    fill();
  }
  const std::size_t end = rest_.size() < want ? std::string::npos : rest_.find('\n', want - 1);
  piece.clear();
  if (end != std::string::npos || ended_) {
    piece = without_blank_end(std::string_view(rest_).substr(0, end));
  }
}

void PackedText::fill() {
  const std::size_t before = rest_.size();
  rest_.resize(before + unpacked_block);
  const std::size_t got = file_->read({rest_.data() + before, unpacked_block});
  rest_.resize(before + got);
  ended_ = got < unpacked_block;
}

void for_each_text(const std::filesystem::path& path, const std::function<void(std::string_view)>& use) {
  if (packing_of(path) == Packing::none) {
    const MappedFile file(path);
    return use(without_blank_end(file.content()));
  }
  PackedText text(path);
  std::string piece;
  for (bool more = true; more;) {
    more = text.next(longest_line, piece);
    use(piece);
  }
}

}  // namespace tutti::miniapps
