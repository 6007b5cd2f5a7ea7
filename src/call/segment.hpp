// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tutti::detail::shm {

/// Memory that several processes of a node map. All of its pages are reserved when it is made, so that no later access
/// can fail. Its name cannot be guessed, only the owner may open it, and it is to be removed as soon as all have it.
class Segment {
 public:
  Segment() = default;
  ~Segment();
  Segment(Segment&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// A new one, zeroed, and its name. Invalid, with the problem in words, where there is no room or no /dev/shm.
  [[nodiscard]] static Segment create(std::size_t bytes, std::string& name, std::string& problem);
  /// Another process's.
  [[nodiscard]] static Segment open(const std::string& name, std::size_t bytes, std::string& problem);
  /// As create, with no page reserved: each process reserves its own part, so that it lies close to its core.
  [[nodiscard]] static Segment create_unreserved(std::size_t bytes, std::string& name, std::string& problem);
  /// Reserves the pages of a part, which begins at a page and whose name has not been removed.
  [[nodiscard]] bool reserve(const std::string& name, std::size_t begin, std::size_t bytes, std::string& problem);
  /// Memory of this process alone, zeroed, its pages not reserved.
  [[nodiscard]] static Segment alone(std::size_t bytes, std::string& problem);
  /// Removes the name; mappings stay.
  static void remove(const std::string& name) noexcept;

  [[nodiscard]] bool valid() const noexcept { return data_ != nullptr; }
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  Segment(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::detail::shm
