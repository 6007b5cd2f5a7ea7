// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace tutti::detail {

/// A file of one process without a name, whose room is taken from the start: writing finds no full disk, and nothing is
/// left of it when the process ends, however it ends. Zero at first. Move-only.
class RowFile {
 public:
  /// Throws Error: invalid_argument for a folder that is none or takes no files; out_of_memory, with the bytes, if its
  /// file system or the process's limit has no room for them.
  RowFile(const std::filesystem::path& folder, std::uint64_t bytes);
  ~RowFile();
  RowFile(RowFile&& other) noexcept;
  RowFile& operator=(RowFile&&) = delete;
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// Throw Error(io).
  void read(std::uint64_t at, std::span<std::byte> to) const;
  void write(std::uint64_t at, std::span<const std::byte> from) const;
  /// Asks the system to bring these bytes into memory, so that many reads of them are under way together. Does not wait
  /// for them. Nothing is lost if the system does not.
  void ask(std::uint64_t at, std::uint64_t bytes) const noexcept;

 private:
  std::filesystem::path folder_;
  int file_ = -1;
};

}  // namespace tutti::detail
