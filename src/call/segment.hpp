// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tutti::detail::shm {

/// The name of a new segment, removed at the end in any case. Its file is locked as long as the name is in use, so that
/// remove_abandoned() knows one whose processes were all killed.
class SegmentName {
 public:
  SegmentName() = default;
  ~SegmentName() { remove(); }
  SegmentName(const SegmentName&) = delete;
  SegmentName& operator=(const SegmentName&) = delete;
  /// The name that those who know 128 bits meet by.
  [[nodiscard]] static std::string of(std::uint64_t high, std::uint64_t low);
  /// Mappings stay.
  void remove() noexcept;
  /// Locks the file of the name.
  void lock(int file) noexcept;
  /// Removes names of this user that killed processes have left, and no other file.
  static void remove_abandoned() noexcept;
  std::string text;

 private:
  int lock_ = -1;
};

/// Memory that several processes of a node map. Its users reserve its pages before they touch them, so that no access
/// can fail. Its name cannot be guessed, only the owner may open it, and the name must be removed as soon as all
/// processes have mapped it.
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

  /// Makes a zeroed segment and its name. The result is invalid, with the problem in words, if there is no room or no
  /// /dev/shm; then the name is empty. Reserves no page: each process reserves its own part, so that the part lies
  /// close to its core. There must be room for `needed` of its bytes.
  [[nodiscard]] static Segment create(std::size_t bytes, SegmentName& name, std::string& problem, std::size_t needed);
  [[nodiscard]] static Segment create(std::size_t bytes, SegmentName& name, std::string& problem) {
    return create(bytes, name, problem, bytes);
  }
  /// Returns true if /dev/shm has room for so many bytes.
  [[nodiscard]] static bool has_room(std::size_t bytes) noexcept;
  /// Opens the segment of that name, which whoever comes first makes, zeroed and with all its pages. Every process
  /// passes the same size.
  [[nodiscard]] static Segment meet(SegmentName& name, std::size_t bytes, std::string& problem);
  /// Opens another process's segment.
  [[nodiscard]] static Segment open(const std::string& name, std::size_t bytes, std::string& problem);
  /// Reserves the pages of a part. The part starts at a page, and the name has not been removed.
  [[nodiscard]] bool reserve(const std::string& name, std::size_t begin, std::size_t bytes, std::string& problem);
  /// The same without the name, once it has been removed. Needs can_reserve_later().
  [[nodiscard]] bool reserve_later(std::size_t begin, std::size_t bytes, std::string& problem);
  /// The same without words.
  [[nodiscard]] bool try_reserve(std::size_t begin, std::size_t bytes) noexcept;
  /// Gives reserved pages back to the system; they are zero when they are reserved again. Returns false if it cannot.
  [[nodiscard]] bool give_back(std::size_t begin, std::size_t bytes) noexcept;
  /// Returns true if the kernel reserves pages of mapped memory (Linux 5.14).
  [[nodiscard]] bool can_reserve_later() const noexcept;
  /// Makes zeroed memory of this process alone, without reserving its pages.
  [[nodiscard]] static Segment alone(std::size_t bytes, std::string& problem);

  [[nodiscard]] bool valid() const noexcept { return data_ != nullptr; }
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  Segment(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::detail::shm
