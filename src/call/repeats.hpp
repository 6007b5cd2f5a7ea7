// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tutti/buffer.hpp>
#include <tutti/reduce_op.hpp>

#include "diagnosis/format.hpp"
#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

struct Plan;

/// The arguments of a call with one count for all ranks, but for its addresses and options. In few words, because each
/// call compares them.
struct CallArguments {
  CallArguments() = default;
  CallArguments(Operation operation, CallKind kind, const ConstBuffer& send, const Buffer& recv, MemoryKind memory,
                ReduceKind op, int its_root)
      : send_count(send.count),
        recv_count(recv.count),
        send_unit(send.type.size()),
        recv_unit(recv.type.size()),
        marks(joined({static_cast<std::uint8_t>(operation), static_cast<std::uint8_t>(op),
                      static_cast<std::uint8_t>(send.type.kind()), static_cast<std::uint8_t>(recv.type.kind()),
                      static_cast<std::uint8_t>(send.memory), static_cast<std::uint8_t>(recv.memory),
                      static_cast<std::uint8_t>(memory),
                      static_cast<std::uint8_t>((kind == CallKind::blocking ? 4 : 0) | (send.is_in_place ? 2 : 0) |
                                                (recv.is_in_place ? 1 : 0))})),
        root(its_root) {}

  std::size_t send_count = 0;
  std::size_t recv_count = 0;
  std::size_t send_unit = 1;  ///< size of an element, in bytes
  std::size_t recv_unit = 1;
  std::uint64_t marks = 0;  ///< the operations, and the kinds of the buffers
  int root = 0;

  friend bool operator==(const CallArguments&, const CallArguments&) = default;

 private:
  static constexpr std::uint64_t joined(const std::array<std::uint8_t, 8>& bytes) noexcept {
    std::uint64_t all = 0;
    for (const std::uint8_t byte : bytes) all = all << 8U | byte;
    return all;
  }
};

/// The calls on host memory, without options, that one rank has made last. A call with the same arguments passes the
/// same checks and has the same plan, so it needs neither; programs repeat a few calls in turn.
class Repeats {
 public:
  struct Entry {
    CallArguments arguments{};
    std::shared_ptr<const Plan> plan{};  ///< null: the place is free
    flight::Facts facts{};               ///< but its sequence
    Binding binding{};                   ///< but its addresses; keeps its lists
    std::ptrdiff_t own = 0;              ///< in place: the place of this rank's block in the other buffer, in bytes
    bool has_input = false;              ///< this rank's input means something
    bool has_output = false;
  };

  /// The call that is made may poll others, which make calls on the same communicator: while it is held, its entry
  /// stays.
  class Hold {
   public:
    explicit Hold(Repeats& repeats) noexcept : repeats_(repeats) { ++repeats_.held_; }
    ~Hold() {
      if (--repeats_.held_ == 0 && repeats_.is_stale_) repeats_.clear();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Repeats& repeats_;
  };

  /// Null if there is none. Valid until the next call, or as long as it is held.
  [[nodiscard]] const Entry* find(const CallArguments& arguments) const noexcept {
    return find_if(arguments, [](const Entry&) { return true; });
  }
  /// The same of a call with counts. Apart, so that others do not pay for it.
  [[gnu::noinline, nodiscard]] const Entry* find(const CallArguments& arguments,
                                                 const BlockLists& lists) const noexcept {
    return find_if(arguments, [&lists](const Entry& entry) { return lists == entry.binding; });
  }
  /// Returns true if the call should be kept: if one of its two places is free, else every eighth time only, so that
  /// programs with many different calls do not replace entries all the time.
  [[nodiscard]] bool wants(const CallArguments& arguments) {
    if (held_ > 0) return false;
    if (!recent_) recent_ = std::make_unique<std::array<Entry, places>>();
    const std::size_t place = place_of(arguments);
    return !(*recent_)[place].plan || !(*recent_)[place ^ 1U].plan || ++passed_over_ % 8 == 0;
  }
  /// Keeps a call that is wanted, in the place of the older one of two.
  void keep(Entry&& entry) {
    const std::size_t place = place_of(entry.arguments);
    std::array<Entry, places>& all = *recent_;
    const bool is_same = all[place].arguments == entry.arguments && all[place].binding == entry.binding;
    if (all[place].plan && !is_same) all[place ^ 1U] = std::move(all[place]);
    all[place] = std::move(entry);
  }
  /// Forgets all calls, the one that is held at its end.
  void clear() noexcept {
    is_stale_ = held_ > 0;
    if (!is_stale_) recent_.reset();
  }

 private:
  template <typename Same>
  [[nodiscard]] const Entry* find_if(const CallArguments& arguments, const Same& same) const noexcept {
    if (!recent_ || is_stale_) return nullptr;
    const std::size_t place = place_of(arguments);
    for (const std::size_t at : {place, place ^ 1U}) {
      const Entry& entry = (*recent_)[at];
      if (entry.plan && entry.arguments == arguments && same(entry)) return &entry;
    }
    return nullptr;
  }
  static constexpr std::size_t places = 32;
  [[nodiscard]] static std::size_t place_of(const CallArguments& a) noexcept {
    const std::uint64_t words = a.marks + a.send_count + a.recv_count + static_cast<std::uint64_t>(a.root) * 7;
    return words * 0x9E3779B97F4A7C15ULL >> (64U - std::bit_width(places - 1));  // these bits follow from all
  }
  std::unique_ptr<std::array<Entry, places>> recent_{};
  int held_ = 0;
  bool is_stale_ = false;
  unsigned passed_over_ = 0;
};

}  // namespace tutti::detail
