// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "call/machine.hpp"

namespace tutti::detail {

struct Candidate;

/// Gives the candidates of a call, in the order in which backends add them.
using CandidatesOf = std::vector<Candidate> (*)(const Signature& signature, const Machine& machine);

/// The times of exchanges on the largest of several nodes, in seconds, for the search for one call's way: the schedules
/// of an operation have most of their exchanges in common.
class NodeTimes {
 public:
  /// The exchanges are those of a call with this signature. Signature and machine outlive the object.
  NodeTimes(const Signature& signature, const Machine& machine, CandidatesOf candidates_of)
      : signature_(signature), machine_(machine), candidates_of_(candidates_of) {}

  /// The time of an exchange between `ranks` ranks by the fastest way. `ranks` is the same in all calls.
  [[nodiscard]] double seconds(const schedules::NodeCost& exchange, int ranks);

 private:
  struct Known {
    Operation operation;
    std::size_t count;
    double seconds;
  };
  [[nodiscard]] double asked(const Signature& exchange) const;

  const Signature& signature_;
  const Machine& machine_;
  CandidatesOf candidates_of_;
  std::optional<Machine> node_{};
  std::vector<Known> known_{};
};

}  // namespace tutti::detail
