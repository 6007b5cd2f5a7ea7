// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>

namespace tutti::preload {

/// What follows once ranks of a communicator have made different calls: the library's side of it is of no more use, but
/// most MPIs go on. A rank that has its answer may be some calls ahead of one that has failed. Each rank therefore
/// tells the others how many calls are over on its side, by success or failure. Up to the greatest of these numbers all
/// calls fail; those after it are the MPI's, on all ranks alike. A rank that is ahead, whose own call has failed only
/// for what another one did before, leaves that call to the MPI too, if no rank has it over.
class Retreat {
 public:
  /// Tells the other ranks. calls: that this rank has made, with the one that has failed. text: of its failure.
  /// may_repeat: the MPI can make the call that has failed. Waits for the others, but not for ever.
  Retreat(const Communicator& ours, std::uint64_t calls, std::string text, bool may_repeat);

  /// Whether the MPI makes the call that has failed.
  [[nodiscard]] bool repeats() const { return repeats_; }

  /// Before a later call of this rank, by its number: returns if it is the MPI's, throws Error if it fails. Waits for
  /// what the others tell, but not for ever: a rank may make no call any more, and then all calls fail.
  void pass(const Communicator& ours, std::uint64_t call);

  /// Before the communicator ends: takes what the others have told. Some MPIs complain of messages that are left.
  void settle(const Communicator& ours);

 private:
  /// Waits as long as that at most; then `never`.
  [[nodiscard]] std::uint64_t greatest(const Communicator& ours, std::chrono::milliseconds patience) const;

  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t over_;
  std::string text_;
  std::optional<std::uint64_t> last_{};  ///< that fails
  bool repeats_ = false;
};

}  // namespace tutti::preload
