// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace tutti::detail {

/// Makes a file for reading and writing. Follows no link and takes no file that is there. Returns its descriptor, or
/// -1 with errno.
[[nodiscard]] int open_new(const std::filesystem::path& path, mode_t mode) noexcept;

/// Makes a file of this process in a folder, for reading and writing: it has no name from the start, and ends with its
/// descriptor. Returns that, or -1 with errno.
[[nodiscard]] int open_nameless(const std::filesystem::path& folder);

/// A file that gets its name once it is whole. Until then it lies beside that name under a hidden one, which no other
/// process of any host uses, and vanishes with the draft.
class Draft {
 public:
  explicit Draft(std::filesystem::path path, mode_t mode = 0666);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  /// False if it could not be made, with the reason in errno.
  [[nodiscard]] bool valid() const noexcept { return file_ >= 0; }
  [[nodiscard]] int get() const noexcept { return file_; }
  /// Gives the file its name, in place of another file or link that has it. Returns false, with the reason in errno,
  /// if that fails.
  [[nodiscard]] bool publish() noexcept;

 private:
  std::filesystem::path path_;
  std::filesystem::path draft_;
  int file_;
};

}  // namespace tutti::detail
