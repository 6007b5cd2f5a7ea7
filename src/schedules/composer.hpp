// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "schedules/builder.hpp"
#include "schedules/layout.hpp"

namespace tutti::schedules {

/// When a phase on a node begins: after all before it, or beside the messages of the round that is being put together.
enum class Start : std::uint8_t { after, beside };

/// Puts schedules of groups of ranks one after the other into one schedule of all ranks. Phases follow one another in
/// the same order on all ranks, so a composition of phases that cannot deadlock cannot either.
///
/// Scratch has what the composition reserves, then a part that the phases use in turn. All of reserve() comes before
/// the first append().
class Composer {
 public:
  /// Reserves a part of scratch for all phases.
  [[nodiscard]] Slice reserve(std::size_t count);

  /// Appends this rank's steps in a phase of `group`, whose place i is rank group[i]. The phase's input and output
  /// begin where the slices do. They may be the same memory if the phase works in place.
  void append(const Schedule& phase, const RankList& group, const Slice& in, const Slice& out);

  /// Appends an exchange over the memory of this rank's node: after all before it, or beside the messages of this
  /// round.
  void exchange(Exchange&& exchange, Start start = Start::after);

  /// Adds a message to this round. Local work that is appended then follows the messages, and the next phase all.
  void send(int peer, const Slice& slice) { builder_.send(peer, slice); }
  void recv(int peer, const Slice& slice) { builder_.recv(peer, slice); }
  void end_round();

  /// Appends local work between phases. Copies between places that follow one another become one copy, so none may
  /// read elements that a copy before it wrote.
  void copy(const Slice& from, const Slice& to);
  void reduce(std::vector<Slice> inputs, const Slice& to);

  [[nodiscard]] Schedule finish(bool alias_safe);

 private:
  [[nodiscard]] Slice translate(const Slice& slice, const Slice& in, const Slice& out) const;
  void append_round(const Round& round, const RankList& group, const Slice& in, const Slice& out);

  void flush_copy();

  Builder builder_;
  Slice copy_from_{};  ///< the last copy, which may still grow
  Slice copy_to_{};
  std::size_t reserved_ = 0;
  std::size_t shared_ = 0;
};

/// The same problem for a group: this rank is at place `index` of `size`.
[[nodiscard]] inline Problem problem_in_group(int index, std::size_t size, int root, std::size_t count) {
  Problem p;
  p.rank = index;
  p.size = static_cast<int>(size);
  p.root = root;
  p.count = count;
  return p;
}

}  // namespace tutti::schedules
