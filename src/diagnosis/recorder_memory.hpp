// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tutti::detail::flight {

/// The memory of a recorder: a file, so that it outlives its process. Other processes of the same user open it by the
/// descriptor in /proc, or by its name.
class RecorderMemory {
 public:
  /// The name by which a memory without a folder is found among the descriptors of a process.
  static constexpr const char* file_name = "tutti-flight";

  RecorderMemory() = default;
  ~RecorderMemory();
  RecorderMemory(RecorderMemory&& other) noexcept { *this = std::move(other); }
  RecorderMemory& operator=(RecorderMemory&& other) noexcept;
  RecorderMemory(const RecorderMemory&) = delete;
  RecorderMemory& operator=(const RecorderMemory&) = delete;

  /// Makes zeroed memory whose pages are reserved. folder: where the file stays; empty: it has no name, and ends with
  /// the last process that holds it. The result is invalid, with the problem in words, if there is no room.
  [[nodiscard]] static RecorderMemory create(std::size_t bytes, const std::string& folder, std::string& problem);

  [[nodiscard]] bool valid() const noexcept { return data_ != nullptr; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] int descriptor() const noexcept { return file_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;
};

}  // namespace tutti::detail::flight
