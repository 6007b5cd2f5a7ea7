// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The calls of one kind, of one size class and by one way.
struct Tally {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> nanoseconds{0};

  void add(std::uint64_t its_bytes, double seconds) noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(its_bytes, std::memory_order_relaxed);
    nanoseconds.fetch_add(static_cast<std::uint64_t>(seconds * 1e9), std::memory_order_relaxed);
  }
};

/// The calls of this process, for TUTTI_LOG=summary.
class Summary {
 public:
  /// Null unless the variable asks for it. Communicators keep the pointer, so that calls test no more than that.
  [[nodiscard]] static Summary* if_wanted();

  /// The tally of a call; it stays where it is.
  [[nodiscard]] Tally& tally_of(std::string_view operation, CallKind kind, const std::string& way, std::uint64_t bytes);

  /// A table, the most expensive calls first; empty if nothing was called.
  [[nodiscard]] std::string text() const;

 private:
  /// The number is the largest size of the class.
  using Key = std::tuple<std::string, CallKind, std::uint64_t, std::string>;
  mutable std::mutex mutex_;
  std::map<Key, Tally> tallies_;
};

/// The bytes that this rank gives to a call or takes from it, whichever are more.
[[nodiscard]] std::uint64_t bytes_of(const Signature& signature, const Binding& binding);

}  // namespace tutti::detail
