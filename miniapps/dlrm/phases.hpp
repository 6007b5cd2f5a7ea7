// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/phases.hpp"

namespace dlrm {

/// Where the time of a training step goes. `wait` is for the batch: reading or making it, or waiting for the thread
/// that does; `input` checks its indices and begins their exchange. `alltoall` and `allreduce` hold only what is
/// exposed: posting, packing and waiting. `backward` is that of both MLPs and the interaction, `update` that of tables
/// (their backward is fused with it) and MLPs.
enum class Stage : std::size_t { wait, input, lookup, alltoall, bottom, interaction, top, backward, allreduce, update };

class PhaseTimer : public tutti::miniapps::Phases {
 public:
  explicit PhaseTimer(std::size_t warmup)
      : Phases({{"wait for data", false},
                {"input", false},
                {"lookup", false},
                {"alltoall", true},
                {"bottom", false},
                {"interaction", false},
                {"top", false},
                {"backward", false},
                {"allreduce", true},
                {"update", false}},
               warmup) {}
  void enter(Stage stage) { Phases::enter(static_cast<std::size_t>(stage)); }
  /// What is none of the stages: on a GPU they are not told apart.
  void enter_other() { Phases::enter(phases().size() - 1); }
};

}  // namespace dlrm
