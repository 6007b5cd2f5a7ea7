// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "replay/recording.hpp"

namespace tutti::commbench::replay {

/// The communicators of a trace, made again, with what a rank must know of the others to make its calls. Collective.
class Session {
 public:
  /// Throws std::invalid_argument, alike on all ranks, if the calls of the ranks do not fit one another: a replay
  /// would hang.
  Session(const Communicator& all, const Recording& recording);

  /// That of a group of the recording of which this rank is one.
  [[nodiscard]] const Communicator& communicator(std::size_t group) const { return communicators_[places_[group]]; }
  /// Of a call, or of a persistent one that was made: for each rank, where the block that it gives to this rank begins
  /// in its buffer, in elements.
  [[nodiscard]] const std::vector<std::size_t>& offsets(std::size_t call) const { return offsets_[call]; }
  [[nodiscard]] const std::vector<std::size_t>& made_offsets(std::size_t made) const { return made_offsets_[made]; }
  [[nodiscard]] const Communicator& all() const { return all_; }

 private:
  using Offsets = std::vector<std::vector<std::size_t>>;
  /// Returns the same communicators again, for the setup: a trace of a replay then has its calls apart.
  [[nodiscard]] std::vector<Communicator> make_communicators();
  void compare_calls(const std::vector<Communicator>& setups, const std::vector<RecordedCall>& calls, Offsets& offsets);
  void compare_messages();

  const Communicator& all_;
  const Recording& recording_;
  std::vector<Communicator> communicators_{};
  std::vector<std::size_t> places_{};  ///< in communicators_, by group
  Offsets offsets_{};
  Offsets made_offsets_{};
};

/// What one rank cannot do, all refuse: throws std::invalid_argument with the problem of the first rank that has one.
/// Collective.
void agree(const Communicator& all, const std::string& problem);

/// "allreduce(float32, count 5, sum)": for messages.
[[nodiscard]] std::string words_of(const Exchange& exchange);

}  // namespace tutti::commbench::replay
