// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace tutti::detail {

/// The receives of a rank that have not ended, in the order of their posts: it tells which message a receive has taken.
/// Messages of one sender, communicator and tag come in the order in which they were sent (MPI 4.1, section 3.5).
class ReceiveOrder {
 public:
  /// A receive before it is posted; returns its number.
  /// mark: of the communicator. source, tag: of MPI, also its wildcards.
  /// matches_late: the message is matched at some time between this call and the end.
  [[nodiscard]] std::uint64_t post(std::uint64_t mark, int source, int tag, bool matches_late = false);
  /// Ends a receive. Of the messages of that source and tag which no ended receive has taken, this many came before its
  /// own; nothing if wildcards, or receives of other threads, leave that open.
  [[nodiscard]] std::optional<int> end(std::uint64_t number, int source, int tag);
  /// A receive whose message is not known.
  void drop(std::uint64_t number) { open_.erase(number); }

 private:
  struct Posted {
    std::uint64_t mark = 0;
    int source = 0;
    int tag = 0;
    bool matches_late = false;
    [[nodiscard]] bool is_wild() const;
    [[nodiscard]] bool may_match(std::uint64_t of, int from, int with) const;
  };
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, Posted> open_{};
};

}  // namespace tutti::detail
