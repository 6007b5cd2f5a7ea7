// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's communicators: made, asked, ended.
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "support/standin/chance.hpp"
#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {
namespace {

using detail::nccl::Config;
using Phase = NcclComm::Phase;

struct IdContent {
  std::uint64_t magic = 0;
  int creator = 0;
  std::uint64_t serial = 0;
};
constexpr std::uint64_t id_magic = 0x7475747469696421;

Result get_version(int* version) {
  *version = current_nccl->version;
  return Result::success;
}

IdContent new_id() {
  static std::uint64_t serial = 0;
  IdContent content{id_magic, 0, ++serial};
  if (wire() != MPI_COMM_NULL) MPI_Comm_rank(wire(), &content.creator);
  return content;
}

std::uint64_t number_of(const IdContent& id) { return id.serial * 64 + static_cast<std::uint64_t>(id.creator % 64); }

Result get_unique_id(UniqueId* id) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("get_unique_id", "")) return *ordered;
  const IdContent content = new_id();
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, &content, sizeof content);
  return Result::success;
}

Result check_config(NcclState& state, const Config* config, const std::string& call) {
  if (config == nullptr || config->magic != 0xcafebeefU || config->size < Config::size_of_21800 ||
      config->version < 21800 || static_cast<int>(config->version) > state.version)
    return state.violate(call + ": config was not initialised, or for another version");
  return Result::success;
}

bool takes_no_ctas(const Config& config) { return config.size >= sizeof(Config) && config.cta_policy == 2; }

void note_config(NcclState& state, const Config& config) {
  state.last_config = config;
  state.last_name = config.size >= sizeof(Config) && config.comm_name != nullptr ? config.comm_name : "";
}

Result check_init(NcclState& state, int size, const IdContent& id, int rank, const Config* config) {
  if (id.magic != id_magic) return state.violate("init with an id that get_unique_id did not make");
  if (rank < 0 || rank >= size) return state.violate("init: rank outside of 0 .. size - 1");
  if (wire() == MPI_COMM_NULL && size != 1) return state.violate("several ranks need MPI");
  return check_config(state, config, "init");
}

Result init(CommHandle* made, int size, const UniqueId& id, int rank, Config* config, const std::string& call) {
  auto& state = *current_nccl;
  const int device = state.runtime->current_device();
  const Uuid uuid = state.runtime->uuid(device);
  std::unique_lock lock(state.mutex);
  *made = nullptr;
  if (const auto ordered = state.enter(call, "size=" + std::to_string(size) + ", rank=" + std::to_string(rank)))
    return *ordered;
  IdContent content;
  std::memcpy(static_cast<void*>(&content), id.internal, sizeof content);
  if (const Result r = check_init(state, size, content, rank, config); r != Result::success) return r;
  auto comm = std::make_unique<NcclComm>();
  comm->state = &state;
  comm->is_busy = true;
  comm->looks = state.looks;
  if (!std::exchange(state.hangs_init, false))
    comm->meeting = std::make_unique<Meeting>(number_of(content), content.creator, rank, size, uuid);
  NcclComm& one = *comm;
  one.is_blocking = config->blocking != 0;
  one.shares = config->split_share == 1;
  one.takes_no_ctas = takes_no_ctas(*config);
  one.device = device;
  note_config(state, *config);
  *made = &one;
  state.comms.push_back(std::move(comm));
  lock.unlock();
  return block_on(one, Result::in_progress);
}

Result comm_init_rank_config(CommHandle* made, int size, UniqueId id, int rank, Config* config) {
  return init(made, size, id, rank, config, "comm_init_rank_config");
}

Result comm_init_rank_scalable(CommHandle* made, int size, int rank, int count, UniqueId* ids, Config* config) {
  std::set<std::pair<int, std::uint64_t>> makers;
  for (int i = 0; i < count; ++i) {
    IdContent content;
    std::memcpy(static_cast<void*>(&content), ids[i].internal, sizeof content);
    if (content.magic != id_magic || !makers.emplace(content.creator, content.serial).second)
      return current_nccl->violate("init with an id twice, or one that get_unique_id did not make");
  }
  if (count < 1 || count > size) return current_nccl->violate("init: not one id to as many as there are ranks");
  return init(made, size, ids[0], rank, config, "comm_init_rank_scalable");
}

Result comm_split(CommHandle handle, int color, int key, CommHandle* made, Config* config) {
  auto& state = *current_nccl;
  std::unique_lock lock(state.mutex);
  if (const auto ordered = state.enter("comm_split", "color=" + std::to_string(color) + ", key=" + std::to_string(key)))
    return *ordered;
  NcclComm* whole = state.ready(handle, "comm_split");
  if (whole == nullptr) return Result::invalid_usage;
  if (made == nullptr || color < detail::nccl::no_color)
    return state.violate("comm_split: no place for the part, or a negative color other than NCCL_SPLIT_NOCOLOR");
  if (const Result r = check_config(state, config, "comm_split"); r != Result::success) return r;
  if (whole->finished != whole->launched)
    return state.violate("comm_split while work of the communicator is in flight");
  *made = nullptr;
  whole->splitting = std::make_unique<NcclSplit>(whole->members, NcclSplit::Choice{color, key, number_of(new_id())});
  whole->splitting->made = made;
  whole->splitting->config = *config;
  whole->is_busy = true;
  whole->looks = state.looks;
  lock.unlock();
  return block_on(*whole, Result::in_progress);
}

Result finalize(CommHandle handle) {
  auto& state = *current_nccl;
  std::unique_lock lock(state.mutex);
  if (const auto ordered = state.enter("comm_finalize", "")) return *ordered;
  NcclComm* comm = state.ready(handle, "comm_finalize");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->graphs > 0) return state.violate("comm_finalize while graphs with work of the communicator live");
  comm->phase = Phase::finalizing;
  comm->is_busy = true;
  comm->looks = state.looks;
  lock.unlock();
  return block_on(*comm, Result::in_progress);
}

Result destroy(CommHandle handle) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_destroy", "")) return *ordered;
  NcclComm* comm = state.usable(handle, "comm_destroy");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->is_busy) return state.violate("comm_destroy while a call on the communicator is in progress");
  if (comm->graphs > 0) return state.violate("comm_destroy while graphs with work of the communicator live");
  if (state.runtime != nullptr && comm->finished != comm->launched)
    return state.violate("comm_destroy while its work is in flight");
  if (state.runtime != nullptr && comm->arrived != comm->awaited)
    return state.violate("comm_destroy with signals that nobody has waited for, or a wait for some that do not come");
  comm->phase = Phase::destroyed;
  comm->registrations.clear();
  return Result::success;
}

Result abort(CommHandle handle) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_abort", "")) return *ordered;
  NcclComm* comm = state.usable(handle, "comm_abort");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->graphs > 0) return state.violate("comm_abort while graphs with work of the communicator live");
  comm->phase = Phase::aborted;
  *comm->family_is_aborted = true;
  comm->meeting.reset();
  comm->connecting.reset();
  comm->splitting.reset();
  for (const auto& launch : comm->pending) launch->give_up();  // never came to a stream
  comm->pending.clear();
  comm->is_busy = false;
  return Result::success;
}

Result get_async_error(CommHandle handle, Result* answer) {
  auto& state = *current_nccl;
  NcclComm* comm = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    ++state.questions;
    if (state.is_launching) return state.violate("comm_get_async_error while another thread launches");
    const auto ordered = state.failures.find("comm_get_async_error");
    if (ordered != state.failures.end()) {
      const Result result = ordered->second;
      state.failures.erase(ordered);
      return result;
    }
    comm = state.usable(handle, "comm_get_async_error");
    if (comm == nullptr) return Result::invalid_usage;
    if (comm->is_blocking && comm->splitting != nullptr)
      return state.violate("comm_get_async_error while another thread splits the communicator");
    if (state.async_error != Result::success) {
      *answer = state.async_error;
      return Result::success;
    }
  }
  *answer = advance(*comm);
  return Result::success;
}

const char* get_error_string(Result result) {
  switch (result) {
    case Result::success:
      return "no error";
    case Result::unhandled_cuda_error:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case Result::system_error:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case Result::internal_error:
      return "internal error";
    case Result::invalid_argument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case Result::invalid_usage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case Result::remote_error:
      return "remote process exited or there was a network error";
    case Result::in_progress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

const char* get_last_error(CommHandle /*comm*/) { return current_nccl->last_error.c_str(); }

/// A communicator that is being made: whether all its ranks are there.
Result advance_init(NcclComm& comm) {
  auto& state = *comm.state;
  if (comm.meeting == nullptr || !comm.meeting->advance(comm.members)) return Result::in_progress;
  if (comm.looks-- > 0) return Result::in_progress;
  comm.is_busy = false;
  comm.phase = Phase::ready;
  const char* several = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  const bool may_share =
      state.version >= detail::nccl::version_of_several_ranks && several != nullptr && *several == '1';
  if (state.forbids_shared_devices && comm.meeting->shares_devices() && !may_share)
    comm.error = state.refuse(Result::invalid_usage, "Duplicate GPU detected: two ranks on one CUDA device");
  comm.meeting.reset();
  return comm.error;
}

/// A split whose ranks have all come.
void end_split(NcclComm& whole) {
  const std::unique_ptr<NcclSplit> split = std::move(whole.splitting);
  if (split->own.color == detail::nccl::no_color) return;
  auto part = std::make_unique<NcclComm>();
  part->state = whole.state;
  part->phase = Phase::ready;
  part->is_blocking = split->config.blocking != 0;
  part->device = whole.device;
  part->members = split->members(whole.members);
  part->shares = split->config.split_share == 1;
  part->takes_no_ctas = takes_no_ctas(split->config);
  if (whole.shares) part->family_is_aborted = whole.family_is_aborted;
  note_config(*whole.state, split->config);
  *split->made = part.get();
  whole.state->comms.push_back(std::move(part));
}

/// Without blocking, NCCL launches in a thread of its own.
void enqueue_all(const NcclComm& comm, const std::vector<std::shared_ptr<Launch>>& ready) {
  const auto enqueue = [&] {
    for (const auto& launch : ready) launch->enqueue();
  };
  if (comm.is_blocking || ready.empty()) return enqueue();
  std::thread([&] {
    if (comm.device != 0) comm.state->runtime->set_current_device(comm.device);
    enqueue();
  }).join();
}

}  // namespace

Result block_on(NcclComm& comm, Result result) {
  if (!may_use_wire()) {
    std::fputs("stand-in of NCCL: a thread calls MPI; set TUTTI_TEST_THREADS=multiple\n", stderr);
    std::abort();
  }
  for (int looks = 0; comm.is_blocking && result == Result::in_progress; ++looks) {
    constexpr int short_wait = 50;
    if (looks > short_wait) std::this_thread::sleep_for(std::chrono::microseconds(20));
    result = advance(comm);
    int found = 0;
    if (wire() != MPI_COMM_NULL) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, wire(), &found, MPI_STATUS_IGNORE);
    sched_yield();
    const std::lock_guard lock(comm.state->mutex);
    if (comm.phase == NcclComm::Phase::aborted || comm.is_lost()) return Result::internal_error;
    if (comm.state->async_error != Result::success) return comm.state->async_error;
  }
  return result;
}

Result accept(NcclComm& comm) {
  constexpr std::uint64_t most_looks = 4;
  comm.looks = comm.state->looks;
  if (!comm.is_blocking) comm.looks += static_cast<int>(Chance::instance().below(most_looks));
  comm.is_busy = true;
  return comm.looks > 0 || comm.connecting != nullptr ? Result::in_progress : Result::success;
}

Result advance(NcclComm& comm) {
  auto& state = *comm.state;
  std::vector<std::shared_ptr<Launch>> ready;
  bool finalizes = false;
  {
    const std::lock_guard lock(state.mutex);
    if (comm.error != Result::success) return comm.error;
    if (!comm.is_busy) return Result::success;
    if (comm.phase == Phase::making) return advance_init(comm);
    if (comm.looks > 0 && comm.looks-- > 0) return Result::in_progress;
    if (comm.connecting != nullptr && !comm.connecting->advance()) return Result::in_progress;
    comm.connecting.reset();
    if (comm.splitting != nullptr && !comm.splitting->exchange.advance()) return Result::in_progress;
    if (comm.splitting != nullptr) end_split(comm);
    finalizes = comm.phase == Phase::finalizing;
    if (!finalizes) {
      ready.swap(comm.pending);
      if (comm.window.first != nullptr) *std::exchange(comm.window.first, nullptr) = comm.window.second;
      comm.is_busy = false;
    }
  }
  enqueue_all(comm, ready);
  if (!finalizes) return Result::success;
  if (state.runtime != nullptr) (void)state.runtime->run_some();
  const std::lock_guard lock(state.mutex);
  if (comm.phase != Phase::finalizing) return Result::internal_error;  // another thread has aborted it
  if (state.runtime != nullptr && comm.finished != comm.launched) return Result::in_progress;
  comm.is_busy = false;
  comm.phase = Phase::finalized;
  return Result::success;
}

void set_management_functions(detail::nccl::Table& table) {
  table.get_version = get_version;
  table.get_unique_id = get_unique_id;
  table.comm_init_rank_config = comm_init_rank_config;
  table.comm_init_rank_scalable = comm_init_rank_scalable;
  table.comm_split = comm_split;
  table.comm_finalize = finalize;
  table.comm_destroy = destroy;
  table.comm_abort = abort;
  table.comm_get_async_error = get_async_error;
  table.get_error_string = get_error_string;
  table.get_last_error = get_last_error;
}

}  // namespace tutti::standin
