// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sched.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/comm_body.hpp"
#include "backends/nccl/set_up.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"
#include "core/mpi_call.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

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

auto init_by(std::vector<UniqueId> ids, int rank, int size) {
  return [ids = std::move(ids), rank, size](CommBody& body) {
    Config& config = body.config;
    if (ids.size() == 1) return body.table.comm_init_rank_config(&body.handle, size, ids.front(), rank, &config);
    auto all = ids;  // NCCL may write there
    return body.table.comm_init_rank_scalable(&body.handle, size, rank, static_cast<int>(all.size()), all.data(),
                                              &config);
  };
}

auto split_by(std::shared_ptr<CommBody> whole, int color, int rank) {
  return [whole = std::move(whole), color, rank](CommBody& part) {
    CommHandle handle = nullptr;
    {
      const std::lock_guard lock(whole->mutex);
      if (whole->is_aborted()) return Result::invalid_usage;
      handle = whole->handle;
      whole->is_splitting = true;
    }
    const Result result = part.table.comm_split(handle, color, rank, &part.handle, &part.config);
    const std::lock_guard lock(whole->mutex);
    whole->is_splitting = false;
    return result;
  };
}

template <typename Condition>
void progress_until(const Condition& condition) {
  while (!condition()) {
    ProgressEngine::instance().poll();
    sched_yield();
  }
}

void end_set_up(CommBody& body, const SetUp& set_up, int size) {
  body.connections.add_first(size);
  progress_until([&] { return set_up.is_done(); });  // the last calls on the device wait for peers
}

}  // namespace

std::unique_ptr<Comm> Comm::create(Context& comm, const Table& table, int device, const Limits& limits,
                                   std::string& why) {
  const auto body = std::make_shared<CommBody>(table, device, limits.end);
  comm.make_messages();
  body->configure(comm.options);
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
  const auto making = SetUp::begin(body, {"ncclCommInitRankConfig", init_by(std::move(ids), comm.rank, comm.size)},
                                   comm.rank, comm.size);
  const Vote::Decision decision = set_up_together(comm, *body, *making, limits.set_up);
  if (!decision.success) {
    making->give_up();
    why = decision.why;
    return nullptr;
  }
  auto made = std::unique_ptr<Comm>(new Comm(body));
  end_set_up(*body, *making, comm.size);
  return made;
}

std::unique_ptr<Comm> Comm::split(Context& whole, const Context* part, int color, const Limits& limits) {
  const auto has_failed = [this] {
    try {
      check_async();
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  device::Traffic& traffic = device::Traffic::of(body_->device);
  progress_until([&] { return (traffic.is_idle() && !traffic.has_line()) || has_failed(); });
  const auto body = std::make_shared<CommBody>(body_->table, body_->device, limits.end);
  if (part != nullptr) body->configure(part->options);
  body->is_blocking = body_->is_blocking;
  body->family = body_->family;
  const int rank = part != nullptr ? part->rank : 0;
  const int size = part != nullptr ? part->size : 0;
  const auto making = SetUp::begin(
      body, {"ncclCommSplit", split_by(body_, part != nullptr ? color : no_color, rank), body_}, rank, size);
  const Vote::Decision decision = set_up_together(whole, *body, *making, limits.set_up);
  if (!decision.success) {
    abort();
    making->give_up();
    throw Error(ErrorCode::nccl, decision.why);
  }
  if (part == nullptr) return nullptr;
  auto made = std::unique_ptr<Comm>(new Comm(body));
  end_set_up(*body, *making, size);
  return made;
}

}  // namespace tutti::detail::nccl
