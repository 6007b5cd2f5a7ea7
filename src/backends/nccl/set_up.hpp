// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "backends/nccl/comm_body.hpp"
#include "backends/nccl/vote.hpp"

namespace tutti::detail::nccl {

/// NCCL's calls that make a communicator and launch its first work, of one rank. They wait for the other ranks, but the
/// caller does not.
class SetUp {
 public:
  SetUp() = default;
  virtual ~SetUp() = default;
  SetUp(const SetUp&) = delete;
  SetUp& operator=(const SetUp&) = delete;

  /// The call that makes the body's communicator.
  struct Making {
    const char* name;
    std::function<Result(CommBody&)> call;
    std::shared_ptr<CommBody> whole{};  ///< that the call is on; null: on none
  };

  /// Begins the calls, by the body's configuration: in a thread if the communicator is to block, else without blocking.
  /// size 0: this rank takes part in the first call, and has no communicator. The device must be current. Without the
  /// launch lock; in_progress calls of a thread hold it.
  [[nodiscard]] static std::unique_ptr<SetUp> begin(const std::shared_ptr<CommBody>& body, Making making, int rank,
                                                    int size);
  /// Goes on without waiting: in_progress, then success once all is launched, or the first failure. Throws Error.
  [[nodiscard]] virtual Result advance() = 0;
  /// What is in progress, or has failed.
  [[nodiscard]] virtual const char* call() const = 0;
  /// After success: whether the device has done the first launches.
  [[nodiscard]] virtual bool is_done() const = 0;
  /// Where the set-up has failed on some rank: aborts what was made.
  virtual void give_up() noexcept = 0;
};

/// Goes on with the set-up of `body` until all ranks of `comm` have succeeded, or one has failed or is not done after
/// `timeout` (0: none), while MPI and all outstanding operations of the library progress. Collective over `comm`,
/// blocking.
[[nodiscard]] Vote::Decision set_up_together(const Context& comm, const CommBody& body, SetUp& set_up,
                                             std::chrono::nanoseconds timeout);

}  // namespace tutti::detail::nccl
