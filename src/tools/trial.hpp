// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "tools/targets.hpp"

namespace tutti::detail::tuning {

/// The memory that trials of one target share. It is written once, so that its pages exist.
class TrialMemory {
 public:
  TrialMemory(const Target& target, int ranks);
  [[nodiscard]] void* input() { return input_.data(); }
  [[nodiscard]] void* output() { return output_.data(); }

 private:
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

/// Runs a target by one candidate, through the public interface.
class Trial {
 public:
  /// options: all but the memory, which is the host's. Collective for persistent calls. The communicator and the memory
  /// must outlive the trial.
  Trial(const Communicator& comm, const Target& target, TrialMemory& memory, Options options);

  /// Makes one call, from start to end. Collective.
  void run();

 private:
  Request call(CallKind kind);

  const Communicator& comm_;
  Target target_;
  Options options_;
  ConstBuffer input_;   ///< one block
  ConstBuffer inputs_;  ///< a block for each rank
  Buffer output_;
  Buffer outputs_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> displs_;
  Request persistent_;
};

}  // namespace tutti::detail::tuning
