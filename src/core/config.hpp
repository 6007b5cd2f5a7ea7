// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>

namespace tutti::detail {

/// What the environment variables TUTTI_* say, read once. The communicator factory checks that ranks agree.
struct Config {
  bool reproducible = false;            ///< TUTTI_REPRODUCIBLE
  bool progress_thread = false;         ///< TUTTI_PROGRESS_THREAD
  std::chrono::nanoseconds timeout{0};  ///< TUTTI_TIMEOUT, in seconds
  bool shared_memory = true;            ///< TUTTI_SHM
  bool single_copy = true;              ///< TUTTI_SINGLE_COPY
  bool nccl = true;                     ///< TUTTI_NCCL
  bool nccl_blocking = false;           ///< TUTTI_NCCL_BLOCKING
  bool nccl_register = false;           ///< TUTTI_NCCL_REGISTER
  std::optional<bool> cuda_aware{};     ///< TUTTI_CUDA_AWARE: nothing where it is not set
  bool logs = false;                    ///< TUTTI_LOG: warnings go to the standard error
};

/// Throws invalid_argument, which names the variable, where a value cannot be read.
[[nodiscard]] const Config& config();

}  // namespace tutti::detail
