// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <optional>
#include <utility>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/comm_body.hpp"
#include "backends/nccl/vote.hpp"
#include "backends/nccl/warm_up.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;

/// Rank 0's message to all ranks before the initialisation.
struct Invitation {
  UniqueId id{};
  Result result = Result::success;
};

Invitation invite(const Context& comm, const Table& table) {
  Invitation invitation;
  if (comm.rank == 0) invitation.result = table.get_unique_id(&invitation.id);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&invitation, sizeof invitation, MPI_BYTE, 0, comm.point_to_point, &request), "MPI_Ibcast");
  wait_yielding(request, "MPI_Ibcast");
  // All ranks have the id before any of them enters NCCL, because a rank's MPI may not progress in there.
  check_mpi(MPI_Ibarrier(comm.point_to_point, &request), "MPI_Ibarrier");
  wait_yielding(request, "MPI_Ibarrier");
  return invitation;
}

Result begin_init(CommBody& body, const Context& comm, const UniqueId& id) {
  Config config;
  body.is_blocking = detail::config().nccl_blocking;
  config.blocking = body.is_blocking ? 1 : 0;
  const std::lock_guard no_launch(device::Traffic::of(body.device).launch_mutex());
  return body.table.comm_init_rank_config(&body.handle, comm.size, id, comm.rank, &config);
}

/// This rank's part: casts its vote once its initialisation has succeeded, failed or timed out.
class Initialisation {
 public:
  Initialisation(CommBody& body, Vote& vote, const Context& comm, Result begun, Duration timeout)
      : body_(body),
        vote_(vote),
        rank_(comm.rank),
        size_(comm.size),
        result_(begun),
        timeout_(timeout),
        begin_(Clock::now()) {}

  void advance() {
    if (vote_.has_cast()) return;
    try {
      step();
    } catch (const Error& error) {
      vote_.cast(false, error.what());
    }
  }

  /// Whether the device has done all first launches.
  [[nodiscard]] bool is_done() const { return !warm_up_ || warm_up_->is_done(); }

 private:
  void step() {
    if (result_ == Result::in_progress) result_ = go_on();
    if (result_ == Result::success && !warm_up_) {
      warm_up_.emplace(body_, rank_, size_);
      result_ = Result::in_progress;
    }
    if (result_ == Result::success) return vote_.cast(true, {});
    if (result_ != Result::in_progress) return vote_.cast(false, body_.text(call(), result_));
    if (timeout_.count() == 0 || Clock::now() - begin_ < timeout_) return;
    vote_.cast(false, fmt::format("{} was not complete after {:.3g} s", call(),
                                  std::chrono::duration<double>(timeout_).count()));
  }

  [[nodiscard]] Result go_on() {
    return warm_up_ ? warm_up_->advance() : body_.poll_between_launches().value_or(Result::in_progress);
  }
  [[nodiscard]] const char* call() const { return warm_up_ ? "the first launches of NCCL" : "ncclCommInitRankConfig"; }

  CommBody& body_;
  Vote& vote_;
  int rank_;
  int size_;
  std::optional<WarmUp> warm_up_{};
  Result result_;
  Duration timeout_;
  Clock::time_point begin_;
};

void give_way() {
  ProgressEngine::instance().poll();
  sched_yield();
}

Vote::Decision agree(Initialisation& mine, Vote& vote) {
  auto decision = vote.poll();
  for (; !decision; decision = vote.poll()) {
    mine.advance();
    give_way();
  }
  if (!vote.has_cast()) vote.cast(false, "another rank failed");
  while (!vote.is_settled()) give_way();
  return *decision;
}

void abort_half_made(CommBody& body) {
  if (body.handle == nullptr) return;
  const std::lock_guard no_launch(device::Traffic::of(body.device).launch_mutex());
  (void)body.table.comm_abort(std::exchange(body.handle, nullptr));
}

}  // namespace

std::unique_ptr<Comm> Comm::create(Context& comm, const Table& table, int device, const Limits& limits,
                                   std::string& why) {
  const auto body = std::make_shared<CommBody>(table, device, limits.end);
  comm.make_messages();
  const Invitation invitation = invite(comm, table);
  if (invitation.result != Result::success) {
    why = fmt::format("rank 0: ncclGetUniqueId failed: {}", table.get_error_string(invitation.result));
    return nullptr;
  }
  Vote vote(comm, 2 * limits.set_up);
  Initialisation mine(*body, vote, comm, begin_init(*body, comm, invitation.id), limits.set_up);
  const Vote::Decision decision = agree(mine, vote);
  if (decision.success) {
    auto made = std::unique_ptr<Comm>(new Comm(body));
    while (!mine.is_done()) give_way();  // the last calls on the device that wait for peers
    return made;
  }
  abort_half_made(*body);
  why = decision.why;
  return nullptr;
}

}  // namespace tutti::detail::nccl
