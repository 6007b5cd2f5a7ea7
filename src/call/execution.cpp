// SPDX-License-Identifier: BSD-3-Clause
#include "call/execution.hpp"

#include <fmt/format.h>

#include <new>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"
#include "call/summary.hpp"
#include "core/progress_hook.hpp"
#include "device/beside_captures.hpp"

namespace tutti::detail {

namespace {

class DoneExecution final : public Execution {
 public:
  DoneExecution() : Execution(nullptr, {}, false) {}
  [[nodiscard]] std::string name() const override { return "a call that is complete"; }

 private:
  bool begin() override { return true; }
  bool step() override { return true; }
  void cancel() noexcept override {}
};

}  // namespace

const std::shared_ptr<Execution>& Execution::done() {
  // Never destroyed, because requests may outlive the statics of this file; hence nobody counts its references.
  static const auto& made = *new std::shared_ptr<Execution>(std::shared_ptr<void>(), [] {
    auto* execution = new DoneExecution;
    static_cast<Execution&>(*execution).phase_.store(Phase::done);
    return execution;
  }());
  return made;
}

Error as_error(const std::string& who) {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::out_of_memory, who + ": memory ran out; free some, or make the call with fewer elements"};
  } catch (const std::exception& e) {
    return {ErrorCode::internal, fmt::format("{}: {}", who, e.what())};
  } catch (...) {
    return {ErrorCode::internal, who + ": a user's operation threw an object that is no std::exception"};
  }
}

const Error& error_without_words() {
  static const auto& made = *new Error(ErrorCode::out_of_memory, "memory ran out, even for the words of this error");
  return made;
}

Execution::Execution(std::shared_ptr<Context> comm, std::chrono::nanoseconds timeout, bool persistent)
    : comm_(std::move(comm)), timeout_(timeout), persistent_(persistent) {}

void Execution::backoff() noexcept { Backoff::sleep(); }

bool Execution::pause(Backoff& backoff) noexcept {
  const bool stays_awake = backoff.pause();
  if (stays_awake && backoff.is_time_to_look()) note_long_wait();
  return stays_awake;
}

void Execution::nap() noexcept {
  backoff();
  note_long_wait();
}

void Execution::note_long_wait() noexcept {
  // Later than a call takes on a busy machine, and earlier than anybody asks.
  constexpr std::chrono::milliseconds until_noted{50};
  if (has_place_) return;
  const auto now = std::chrono::steady_clock::now();
  if (first_look_ == std::chrono::steady_clock::time_point{}) first_look_ = now;
  has_place_ = now - first_look_ > until_noted;
  if (has_place_) flight::record_place(note_, comm_->flight.recorder(), comm_->flight.row());
}

void Execution::start() noexcept {
  failure_ = nullptr;
  error_ = ErrorCode::success;
  if (tally_ != nullptr) tally_->add(tally_bytes_, 0);
  first_look_ = {};
  has_place_ = false;
  if (recorder_ != nullptr) note_ = {recorder_, recorder_->begin(facts_, flight::State::outstanding)};
  if (timeout_.count() > 0) {
    const auto now = std::chrono::steady_clock::now();
    constexpr auto never = std::chrono::steady_clock::time_point::max();
    deadline_ = timeout_ > never - now ? never : now + timeout_;
  }
  phase_.store(Phase::active, std::memory_order_relaxed);
  try {
    comm_->check_usable();
    if (begin()) succeed();
  } catch (...) {
    fail_by_exception();
  }
}

bool Execution::poll() noexcept {
  if (phase_.load(std::memory_order_relaxed) != Phase::active) return true;
  try {
    comm_->check_aborted();
    if (step()) {
      succeed();
      return true;
    }
    return has_waited_in_vain();
  } catch (...) {
    fail_by_exception();
  }
  return true;
}

bool Execution::has_waited_in_vain() {
  constexpr std::uint64_t polls_per_clock = 16;
  if (++polls_ % polls_per_clock != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  // Only the library's own calls look, because that may take a look into MPI.
  if (!progress_hook::is_inside() && comm_->peers.is_time_to_look(now)) {
    comm_->peers.look();
    comm_->hear_of_abort();
  }
  if (comm_->peers.ended() >= 0) {
    fail(ErrorCode::peer_died, comm_->words_on_ended(name()));
    return true;
  }
  if (timeout_.count() == 0 || now <= deadline_) return false;
  fail(ErrorCode::timeout,
       fmt::format("{}, {}: not complete after {} ms; a rank may be late, stopped, or in another call. Raise the "
                   "timeout, or check that rank",
                   name(), comm_->describe(), std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count()));
  return true;
}

void Execution::fail_by_exception() noexcept {
  try {
    const Error error = comm_->explain(name());
    fail_now(std::make_exception_ptr(error), error.code(), error.what());
  } catch (const std::bad_alloc&) {
    fail_now(std::make_exception_ptr(error_without_words()), ErrorCode::out_of_memory, {});
  }
}

void Execution::fail(ErrorCode code, const std::string& message) noexcept {
  try {
    fail_now(std::make_exception_ptr(Error(code, message)), code, message);
  } catch (const std::bad_alloc&) {
    fail_now(std::make_exception_ptr(error_without_words()), code, {});
  }
}

void Execution::fail_now(std::exception_ptr failure, ErrorCode code, const std::string& message) noexcept {
  comm_->keep_contexts();
  // Before cancel(), which lets streams go: who has waited for one sees that the communicator is broken.
  if (breaks_communicator() || code == ErrorCode::peer_died) comm_->mark_broken(code, message);
  cancel();
  failure_ = std::move(failure);
  error_ = code;
  note_.end(flight::State::failed);
  phase_.store(Phase::failed, std::memory_order_release);
}

void Execution::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

namespace {

/// A rank that waits for the next of many chunks spins anew: if it yields its core to another program, all ranks wait
/// for that one's time slice, chunk after chunk.
void drive(Execution& execution) {
  ProgressEngine& engine = ProgressEngine::instance();
  engine.poll();
  const bool oversubscribed = execution.comm().topology.oversubscribed;
  Backoff backoff(oversubscribed);
  for (std::uint64_t moves = execution.moves(); !execution.poll();) {
    engine.poll();
    if (const std::uint64_t now = execution.moves(); now != moves) {
      moves = now;
      backoff = Backoff(oversubscribed);
    }
    if (execution.pause(backoff)) continue;
    execution.announce_backoff();
    if (execution.poll()) break;
    execution.nap();
  }
}

}  // namespace

void run_to_end(Execution& execution) {
  const device::BesideCaptures beside;  // MPI may use the device
  const progress_hook::Pause pause;     // this loop polls
  execution.start();
  drive(execution);
  execution.rethrow();
}

void drive_to_end(Execution& execution) {
  const device::BesideCaptures beside;
  const progress_hook::Pause pause;
  drive(execution);
}

}  // namespace tutti::detail
