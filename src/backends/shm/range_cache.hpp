// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tutti::detail::shm {

/// A range of another process's addresses that is attached here. Its destructor detaches it.
class Attachment {
 public:
  using Detach = std::function<void(std::byte*)>;

  Attachment(std::uint64_t begin, std::uint64_t end, std::byte* here, Detach detach)
      : begin_(begin), end_(end), here_(here), detach_(std::move(detach)) {}
  ~Attachment() { detach_(here_); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] bool holds(std::uint64_t begin, std::uint64_t end) const { return begin_ <= begin && end <= end_; }
  /// The address, in this process, of one of the owner's addresses.
  [[nodiscard]] std::byte* at(std::uint64_t address) const { return here_ + (address - begin_); }

 private:
  std::uint64_t begin_;
  std::uint64_t end_;
  std::byte* here_;
  Detach detach_;
};

using AttachmentPtr = std::shared_ptr<const Attachment>;

/// The attached ranges of one other process, of whole pages, which neither overlap nor touch. A range that meets others
/// is attached anew as their union, because callers that use neighbouring buffers will use them again. Whoever holds a
/// pointer keeps its range attached, even after the cache has dropped it. Any thread.
class RangeCache {
 public:
  struct Functions {
    /// Attaches a range of whole pages; returns null on failure.
    std::function<std::byte*(std::uint64_t begin, std::size_t bytes)> attach;
    Attachment::Detach detach;
    /// Returns false if the owner has no such memory. Asked before a range is attached; null: not asked.
    std::function<bool(std::uint64_t address, std::size_t bytes)> exists{};
  };
  /// Attached ranges cost page tables and a mapping each; a communicator rarely uses more buffers by turns.
  static constexpr std::size_t most_ranges = 64;

  RangeCache(Functions functions, std::size_t page, std::size_t most = most_ranges)
      : functions_(std::move(functions)), page_(page), most_(most) {}

  /// An attachment that holds the range, or null if the range cannot be attached.
  [[nodiscard]] AttachmentPtr find(std::uint64_t address, std::size_t bytes);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    AttachmentPtr range;
    std::uint64_t last_use = 0;
  };
  using Entries = std::map<std::uint64_t, Entry>;  ///< by first address

  [[nodiscard]] AttachmentPtr make(std::uint64_t begin, std::uint64_t end) const;
  /// The first entry that ends at this address or behind it.
  [[nodiscard]] Entries::iterator first_that_meets(std::uint64_t begin);
  /// Drops the range that was used least recently and that nobody holds; returns false if there is none.
  bool drop_one();

  Functions functions_;
  std::uint64_t page_;
  std::size_t most_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace tutti::detail::shm
