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
#include "training/checkpoint/format.hpp"
#include "training/checkpoint/increment.hpp"

namespace tutti {
namespace {

using training::agreed_failure;
using training::all_or_none;
using training::failure_of;

// How far a rank is. The least of all ranks is how far the save is.
constexpr std::int32_t failed = -1;
constexpr std::int32_t writing = 0;
constexpr std::int32_t written = 1;    // its part
constexpr std::int32_t committed = 2;  // rank 0, and others as soon as all have written

// Ranks wait for each other in each step, so that the times which the threads take from their cores add up.
constexpr double rest_per_work = 24;

struct GivenUp {};

double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

using Add = std::function<void(CheckpointPart&)>;

/// What an incremental save adds to, as rank 0 finds it.
std::shared_ptr<detail::checkpoint::Increment> agree_on_base(const Communicator& comm,
                                                             const std::filesystem::path& folder) {
  auto increment = std::make_shared<detail::checkpoint::Increment>();
  all_or_none(comm, [&] {
    if (comm.rank() == 0) detail::checkpoint::find_base(folder, *increment);
  });
  std::array<std::uint64_t, 2> found{increment->base, increment->number};
  bcast(comm, found, 0);
  increment->base = found[0];
  increment->number = found[1];
  return increment;
}

/// A rank's part of a save, with all that it adds.
struct FilledPart {
  CheckpointPart part;
  std::shared_ptr<detail::checkpoint::Increment> increment;  ///< null unless the save is incremental
};

/// An increment becomes a full save where anything on any rank cannot add to what is there.
FilledPart filled_part(const Communicator& comm, const std::filesystem::path& folder, const Add& add, SaveKind kind) {
  const auto increment = kind == SaveKind::incremental ? agree_on_base(comm, folder) : nullptr;
  FilledPart filled{CheckpointPart(folder, comm.rank(), increment), increment};
  all_or_none(comm, [&] { add(filled.part); });
  if (!increment || allreduce(comm, increment->is_refused ? 1 : 0, max) == 0) return filled;
  increment->end(0);
  increment->base = 0;
  filled.part = CheckpointPart(folder, comm.rank(), increment);
  all_or_none(comm, [&] { add(filled.part); });
  return filled;
}

/// Commits the parts of all ranks, by rank 0. Gives the identity of the new checkpoint.
std::uint64_t commit(const Communicator& comm, const std::filesystem::path& folder, const FilledPart& filled) {
  return detail::checkpoint::commit(folder, comm.size(), filled.increment ? filled.increment->base : 0);
}

/// The end of a save that rank 0 has committed.
void end_save(const Communicator& comm, const FilledPart& filled, std::uint64_t identity) {
  if (!filled.increment) return;
  bcast(comm, Buffer(&identity, 1), 0);
  filled.increment->end(identity);
}

}  // namespace

void save_checkpoint(const Communicator& comm, const std::filesystem::path& folder, const Add& add, SaveKind kind) {
  const FilledPart filled = filled_part(comm, folder, add, kind);
  if (const auto failure = agreed_failure(comm, [&] { filled.part.write(); })) {
    filled.part.discard();  // not after other errors, where another rank may commit it
    throw *failure;
  }
  std::uint64_t identity = 0;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) identity = commit(comm, folder, filled);
  });
  end_save(comm, filled, identity);
}

/// The thread that writes a part and, on rank 0, commits all; and what the ranks know of each other.
struct CheckpointSave::State {
  State(const Communicator& of, std::filesystem::path where, FilledPart what)
      : comm(detail::services::share(of)),
        folder(std::move(where)),
        filled(std::move(what)),
        rest_factor(has_second_cores(comm.topology()) ? 0 : rest_per_work) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void run() noexcept;
  /// The end of a piece. Throws GivenUp.
  void rest_after_piece();
  void note(std::int32_t reached);
  [[nodiscard]] std::int32_t stage();
  /// Until the thread has nothing to do, for a short while.
  void await_thread();
  /// All ranks have written.
  void begin_commit();
  void tell_thread(bool State::*wish);

  Communicator comm;
  std::filesystem::path folder;
  FilledPart filled;
  double rest_factor;
  std::optional<Error> failure{};

  std::mutex mutex{};
  std::condition_variable changed{};
  std::int32_t own = writing;
  bool hurries = false;
  bool gives_up = false;
  bool commits = false;  ///< on all ranks from the same test() on
  double worked = 0;     ///< processor time of the thread up to its last rest
  std::thread thread{};

  std::shared_ptr<std::int32_t> agreed = std::make_shared<std::int32_t>(writing);  ///< the least of all ranks
  Request agreement{};
  std::uint64_t identity = 0;  ///< of the checkpoint that rank 0 has committed
};

CheckpointSave::State::~State() {
  if (thread.joinable()) {
    tell_thread(&State::gives_up);
    thread.join();
    if (!commits) filled.part.discard();
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
    failure = failure_of([this] { filled.part.write([this] { rest_after_piece(); }); });
    note(failure ? failed : written);
    if (failure || comm.rank() != 0) return;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return commits || gives_up; });
      if (!commits) return;
    }
    failure = failure_of([this] { identity = commit(comm, folder, filled); });
    note(failure ? failed : committed);
  } catch (const GivenUp&) {  // NOLINT(bugprone-empty-catch): nobody waits
  }
}

void CheckpointSave::State::await_thread() {
  constexpr std::chrono::milliseconds between_looks(5);
  std::unique_lock lock(mutex);
  changed.wait_for(lock, between_looks, [this] { return own != writing && !(own == written && commits); });
}

void CheckpointSave::State::begin_commit() {
  tell_thread(&State::commits);
  if (comm.rank() != 0) note(committed);
}

CheckpointSave::CheckpointSave() noexcept = default;
CheckpointSave::~CheckpointSave() = default;
CheckpointSave::CheckpointSave(CheckpointSave&&) noexcept = default;
CheckpointSave& CheckpointSave::operator=(CheckpointSave&&) noexcept = default;

CheckpointSave::CheckpointSave(const Communicator& comm, const std::filesystem::path& folder, const Add& add,
                               SaveKind kind)
    : state_(std::make_unique<State>(comm, folder, filled_part(comm, folder, add, kind))) {
  all_or_none(comm, [&] {
    State& state = *state_;
    state.filled.part.copy_views();
    state.thread = std::thread([&state] { state.run(); });
  });
}

bool CheckpointSave::test() {
  if (!state_) return true;
  State& state = *state_;
  state.agreement.wait();
  if (*state.agreed == written && !state.commits) state.begin_commit();
  if (*state.agreed == writing || *state.agreed == written) {
    *state.agreed = state.stage();
    state.agreement = iallreduce(state.comm, state.agreed.get(), 1, min);
    return false;
  }
  const auto ended = std::move(state_);
  ended->tell_thread(&State::gives_up);  // where another rank has failed
  ended->thread.join();
  if (*ended->agreed == failed) {
    const auto failure = agreed_failure(ended->comm, [&] {
      if (ended->failure) throw *ended->failure;
    });
    if (!ended->commits) ended->filled.part.discard();
    throw *failure;
  }
  end_save(ended->comm, ended->filled, ended->identity);
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
