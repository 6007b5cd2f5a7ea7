// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "schedules/problem.hpp"

namespace tutti::scale {

/// The simulated machine as a rank of the study sees it. All ranks live in one process and one thread, so what is
/// static is shared by them.
class Machine {
 public:
  /// The first rank that comes makes it. per_node: ranks of a node, which follow one another.
  static Machine& of(int ranks, int per_node, const schedules::Starts& starts);

  [[nodiscard]] int ranks() const { return node_of_.size(); }
  [[nodiscard]] const schedules::NodeMap& node_of() const { return node_of_; }
  [[nodiscard]] const schedules::Starts& starts() const { return starts_; }

  /// Waits for all ranks without messages and without simulated time.
  void meet();

  /// The simulated time of one call of all ranks, in seconds, from their common start to the end of the last one.
  template <typename Call>
  double time_of(const Call& call) {
    meet();
    begin();
    call();
    end();
    meet();
    return last_ - start_;
  }

 private:
  Machine(int ranks, int per_node, const schedules::Starts& starts);
  void begin();
  void end();

  schedules::NodeMap node_of_;
  schedules::Starts starts_;
  void* barrier_;
  double start_ = 0;
  double last_ = 0;
};

/// Gives messages the overheads and latencies of the model, before any is sent. On one rank.
void use_model();

/// Memory that is never touched, for buffers of any size: in a replay SMPI moves no data.
[[nodiscard]] char* untouched_memory();

}  // namespace tutti::scale
