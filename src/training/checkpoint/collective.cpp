// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <time.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <tutti/checkpoint.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "collectives/services.hpp"
#include "training/all_or_none.hpp"

namespace tutti {
namespace {

using training::agreed_failure;
using training::all_or_none;

// How far a rank is with its part. The least of all ranks is how far the save is.
constexpr std::int32_t failed = -1;
constexpr std::int32_t writing = 0;
constexpr std::int32_t written = 1;

// Ranks wait for each other in each step, so that the times which the threads take from their cores add up.
constexpr double rest_per_work = 24;

struct GivenUp {};

double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Commits the part of every rank, where `write` has written it on all.
template <typename Write>
void commit_all(const Communicator& comm, const std::filesystem::path& folder, const CheckpointPart& part,
                const Write& write) {
  if (const auto failure = agreed_failure(comm, write)) {
    part.discard();  // not after other errors, where another rank may commit it
    throw *failure;
  }
  all_or_none(comm, [&] {
    if (comm.rank() == 0) commit_checkpoint(folder, comm.size());
  });
}

}  // namespace

void save_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                     const std::function<void(CheckpointPart&)>& add) {
  CheckpointPart part(folder, comm.rank());
  commit_all(comm, folder, part, [&] {
    add(part);
    part.write();
  });
}

/// The thread that writes a part, and what the ranks know of each other.
struct CheckpointSave::State {
  State(const Communicator& of, std::filesystem::path where)
      : comm(detail::services::share(of)),
        folder(std::move(where)),
        part(folder, comm.rank()),
        rest_factor(has_second_cores(comm.topology()) ? 0 : rest_per_work) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void run() noexcept;
  /// The end of a piece. Throws GivenUp.
  void rest_after_piece();
  void note(std::int32_t reached);
  [[nodiscard]] std::int32_t stage();
  /// Until the thread is at its end, for a short while.
  void await_thread();
  void tell_thread(bool State::*wish);

  Communicator comm;
  std::filesystem::path folder;
  CheckpointPart part;
  double rest_factor;
  std::optional<Error> failure{};

  std::mutex mutex{};
  std::condition_variable changed{};
  std::int32_t own = writing;
  bool hurries = false;
  bool gives_up = false;
  double worked = 0;  ///< processor time of the thread up to its last rest
  std::thread thread{};

  std::shared_ptr<std::int32_t> agreed = std::make_shared<std::int32_t>(writing);  ///< the least of all ranks
  Request agreement{};
};

CheckpointSave::State::~State() {
  if (thread.joinable()) {
    tell_thread(&State::gives_up);
    thread.join();
    part.discard();
  }
  if (agreement.pending()) detail::defer_free(agreed);
}

void CheckpointSave::State::tell_thread(bool State::*wish) {
  {
    const std::lock_guard lock(mutex);
    this->*wish = true;
  }
  changed.notify_all();
}

void CheckpointSave::State::note(std::int32_t reached) {
  {
    const std::lock_guard lock(mutex);
    own = reached;
  }
  changed.notify_all();
}

std::int32_t CheckpointSave::State::stage() {
  const std::lock_guard lock(mutex);
  return own;
}

void CheckpointSave::State::rest_after_piece() {
  std::unique_lock lock(mutex);
  const double now = thread_seconds();
  const std::chrono::duration<double> rest(rest_factor * (now - worked));
  changed.wait_for(lock, rest, [this] { return hurries || gives_up; });
  worked = now;
  if (gives_up) throw GivenUp{};
}

void CheckpointSave::State::run() noexcept {
  try {
    failure = failure_of([this] { part.write([this] { rest_after_piece(); }); });
    note(failure ? failed : written);
  } catch (const GivenUp&) {  // NOLINT(bugprone-empty-catch): nobody waits
  }
}

void CheckpointSave::State::await_thread() {
  constexpr std::chrono::milliseconds between_looks(5);
  std::unique_lock lock(mutex);
  changed.wait_for(lock, between_looks, [this] { return own != writing; });
}

CheckpointSave::CheckpointSave() noexcept = default;
CheckpointSave::~CheckpointSave() = default;
CheckpointSave::CheckpointSave(CheckpointSave&&) noexcept = default;
CheckpointSave& CheckpointSave::operator=(CheckpointSave&&) noexcept = default;

CheckpointSave::CheckpointSave(const Communicator& comm, const std::filesystem::path& folder,
                               const std::function<void(CheckpointPart&)>& add)
    : state_(std::make_unique<State>(comm, folder)) {
  all_or_none(comm, [&] {
    State& state = *state_;
    add(state.part);
    state.part.copy_views();
    state.thread = std::thread([&state] { state.run(); });
  });
}

bool CheckpointSave::test() {
  if (!state_) return true;
  State& state = *state_;
  state.agreement.wait();
  if (*state.agreed == writing) {
    *state.agreed = state.stage();
    state.agreement = iallreduce(state.comm, state.agreed.get(), 1, min);
    return false;
  }
  const auto ended = std::move(state_);
  ended->tell_thread(&State::gives_up);  // where another rank has failed
  ended->thread.join();
  commit_all(ended->comm, ended->folder, ended->part, [&] {
    if (ended->failure) throw *ended->failure;
  });
  return true;
}

void CheckpointSave::wait() {
  if (state_) state_->tell_thread(&State::hurries);
  while (!test()) state_->await_thread();
}

void load_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                     const std::function<void(const CheckpointReader&)>& read) {
  all_or_none(comm, [&] { read(CheckpointReader(folder)); });
}

}  // namespace tutti
