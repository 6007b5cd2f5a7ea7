// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sched.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/comm_body.hpp"
#include "backends/nccl/set_up.hpp"
#include "backends/nccl/vote.hpp"
#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;

/// The message to all ranks of a rank at which others meet, before the initialisation.
struct Invitation {
  UniqueId id{};
  Result result = Result::success;
};

/// Which rank makes the id of number `id` of `ids`.
int maker_of(int id, int ids, int size) { return static_cast<int>(std::int64_t{id} * size / ids); }

std::vector<Invitation> invite(const Context& comm, const Table& table, int ranks_per_id) {
  const bool is_scalable = table.comm_init_rank_scalable != nullptr && ranks_per_id > 0;
  const int ids = is_scalable ? (comm.size + ranks_per_id - 1) / ranks_per_id : 1;
  Invitation mine;
  std::vector<int> bytes(static_cast<std::size_t>(comm.size), 0);
  std::vector<int> places(bytes.size(), 0);
  for (int id = 0; id < ids; ++id) {
    const int maker = maker_of(id, ids, comm.size);
    bytes[static_cast<std::size_t>(maker)] = sizeof mine;
    places[static_cast<std::size_t>(maker)] = id * static_cast<int>(sizeof mine);
    if (maker == comm.rank) mine.result = table.get_unique_id(&mine.id);
  }
  std::vector<Invitation> all(static_cast<std::size_t>(ids));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgatherv(&mine, bytes[static_cast<std::size_t>(comm.rank)], MPI_BYTE, all.data(), bytes.data(),
                            places.data(), MPI_BYTE, comm.point_to_point, &request),
            "MPI_Iallgatherv");
  wait_yielding(request, "MPI_Iallgatherv");
  // All ranks have the ids before any of them enters NCCL, because a rank's MPI may not progress in there.
  check_mpi(MPI_Ibarrier(comm.point_to_point, &request), "MPI_Ibarrier");
  wait_yielding(request, "MPI_Ibarrier");
  return all;
}

/// NCCL reads as much of it as its version knows.
void configure(CommBody& body, const CommunicatorOptions& options) {
  const auto chosen = [](int value) { return value > 0 ? value : unset; };
  body.is_blocking = detail::config().nccl_blocking;
  Config& config = body.config;
  config.blocking = body.is_blocking ? 1 : 0;
  config.min_ctas = chosen(options.nccl.min_ctas);
  config.max_ctas = chosen(options.nccl.max_ctas);
  if (body.table.version < version_of_long_config) return;
  config.size = sizeof config;
  config.version = version_of_long_config;
  config.nvls_ctas = chosen(options.nccl.nvls_ctas);
  if (options.nccl.cta_policy != CtaPolicy::standard) config.cta_policy = static_cast<int>(options.nccl.cta_policy);
  body.name = options.name;
  if (!body.name.empty()) config.comm_name = body.name.c_str();
}

/// This rank's part: casts its vote once its set-up has succeeded, failed or timed out.
class Initialisation {
 public:
  Initialisation(const std::shared_ptr<CommBody>& body, Vote& vote, const Context& comm, std::vector<UniqueId> ids,
                 Duration timeout)
      : body_(*body),
        vote_(vote),
        timeout_(timeout),
        begin_(Clock::now()),
        set_up_(SetUp::begin(body, std::move(ids), comm.rank, comm.size)) {}

  void advance() {
    if (vote_.has_cast()) return;
    try {
      step();
    } catch (const Error& error) {
      vote_.cast(false, error.what());
    }
  }
  [[nodiscard]] SetUp& set_up() noexcept { return *set_up_; }

 private:
  void step() {
    const Result result = set_up_->advance();
    if (result == Result::success) return vote_.cast(true, {});
    if (result != Result::in_progress) return vote_.cast(false, body_.text(set_up_->call(), result));
    if (timeout_.count() == 0 || Clock::now() - begin_ < timeout_) return;
    vote_.cast(false, fmt::format("{} was not complete after {:.3g} s", set_up_->call(),
                                  std::chrono::duration<double>(timeout_).count()));
  }

  CommBody& body_;
  Vote& vote_;
  Duration timeout_;
  Clock::time_point begin_;
  std::unique_ptr<SetUp> set_up_;
};

void give_way() {
  ProgressEngine::instance().poll();
  sched_yield();
}

Vote::Decision agree(Initialisation& mine, Vote& vote) {
  constexpr int yields = 200;
  auto decision = vote.poll();
  for (int polls = 0; !decision; ++polls) {
    mine.advance();
    give_way();
    if (polls > yields) Backoff::sleep();  // NCCL's threads need a core
    decision = vote.poll();
  }
  if (!vote.has_cast()) vote.cast(false, "another rank failed");
  while (!vote.is_settled()) give_way();
  return *decision;
}

}  // namespace

std::unique_ptr<Comm> Comm::create(Context& comm, const Table& table, int device, const Limits& limits,
                                   std::string& why) {
  const auto body = std::make_shared<CommBody>(table, device, limits.end);
  comm.make_messages();
  configure(*body, comm.options);
  const std::vector<Invitation> invitations = invite(comm, table, limits.ranks_per_id);
  std::vector<UniqueId> ids;
  for (const Invitation& invitation : invitations) {
    if (invitation.result == Result::success) {
      ids.push_back(invitation.id);
      continue;
    }
    const int maker = maker_of(static_cast<int>(ids.size()), static_cast<int>(invitations.size()), comm.size);
    why = fmt::format("rank {}: ncclGetUniqueId failed: {}", maker, table.get_error_string(invitation.result));
    return nullptr;
  }
  Vote vote(comm, 2 * limits.set_up);
  Initialisation mine(body, vote, comm, std::move(ids), limits.set_up);
  const Vote::Decision decision = agree(mine, vote);
  if (decision.success) {
    auto made = std::unique_ptr<Comm>(new Comm(body));
    body->connections.add_first(comm.size);
    while (!mine.set_up().is_done()) give_way();  // the last calls on the device that wait for peers
    return made;
  }
  mine.set_up().give_up();
  why = decision.why;
  return nullptr;
}

}  // namespace tutti::detail::nccl
