// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "unpacker.hpp"

namespace tutti::miniapps {

/// The text of a compressed file, piece by piece. Throws as make_unpacker() and Unpacker, and tutti::Error (io) for a
/// line of more than 16 MiB.
class PackedText {
 public:
  explicit PackedText(const std::filesystem::path& path);

  /// Puts whole lines into `piece`, `bytes` and the rest of the last line, without blank ones behind them: these may
  /// turn out to be the end of the file. False after the last lines.
  bool next(std::uint64_t bytes, std::string& piece);

 private:
  /// `want` bytes and the rest of their last line, empty where that has not come yet.
  void take(std::size_t want, std::string& piece);
  void fill();

  std::filesystem::path path_;
  std::unique_ptr<Unpacker> file_;
  std::string rest_{};
  bool ended_ = false;
};

/// Calls use(text) for the text of a file, plain or compressed, without blank lines at its end: in pieces of whole
/// lines, whose last line lacks its end. Throws as PackedText and MappedFile.
void for_each_text(const std::filesystem::path& path, const std::function<void(std::string_view)>& use);

}  // namespace tutti::miniapps
