// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tutti/error.hpp>
#include <tutti/request.hpp>

#include "device/runtime.hpp"
#include "diagnosis/recorder.hpp"

namespace tutti::detail {

class Backoff;
struct Context;
struct Tally;

/// The kernel refused access to the memory of another rank.
struct MemoryRefused : Error {
  using Error::Error;
};

/// One run of an operation. begin() posts the first messages, step() continues without blocking. The driver (a blocking
/// call, or the progress engine for a request) calls start() and poll(). A failure is kept for the caller.
class Execution {
 public:
  enum class Phase : std::uint8_t { idle, active, done, failed };

  Execution(std::shared_ptr<Context> comm, std::chrono::nanoseconds timeout, bool persistent);
  /// The execution of every nonblocking call that was complete when it returned. It belongs to no communicator.
  [[nodiscard]] static const std::shared_ptr<Execution>& done();
  virtual ~Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Begins the operation; afterwards the phase is active, done or failed.
  void start() noexcept;
  /// Takes one step. Returns true once the execution is done or has failed. Called by one thread at a time.
  bool poll() noexcept;
  /// Counts every start from now on, for TUTTI_LOG=summary. The tally must stay where it is.
  void count_in(Tally& tally, std::uint64_t bytes) noexcept {
    tally_ = &tally;
    tally_bytes_ = bytes;
  }
  /// Keeps the flight recorder's note of a nonblocking call up to date. Before the start.
  void keep(const flight::Note& note) noexcept { note_ = note; }
  /// Records every start from now on, after the note of the call that has made it.
  void record_starts(const flight::Note& made) noexcept {
    if (made.recorder == nullptr) return;
    recorder_ = made.recorder;
    facts_ = made.recorder->facts_of(made.number);
    facts_.form = flight::Form::start;
  }
  /// The note of the call, or of the last start of a persistent one.
  [[nodiscard]] const flight::Note& note() const noexcept { return note_; }
  /// Notes that the program waits for it.
  void note_wait() const noexcept { note_.wait(); }
  /// Ends an active execution with an error.
  void fail(ErrorCode code, const std::string& message) noexcept;
  /// The same by the exception that is being handled.
  void fail_by_exception() noexcept;
  /// Makes a persistent execution idle again, after the owner has seen its end.
  void acknowledge() noexcept { phase_.store(Phase::idle, std::memory_order_release); }
  /// Rethrows the failure, if there is one.
  void rethrow() const;

  [[nodiscard]] Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  [[nodiscard]] bool finished() const noexcept { return phase() == Phase::done || phase() == Phase::failed; }
  /// The error of the execution; success until it has failed.
  [[nodiscard]] ErrorCode error() const noexcept { return phase() == Phase::failed ? error_ : ErrorCode::success; }
  [[nodiscard]] bool persistent() const noexcept { return persistent_; }
  /// The name in messages: "allreduce (ring)".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Sleeps while idle. Call announce_backoff() and poll once more before it, or a wake-up may be lost.
  virtual void announce_backoff() noexcept {}
  virtual void backoff() noexcept;
  /// Backoff::pause() and backoff() in the thread that waits for this call. After some time the flight recorder gets
  /// its place in the program.
  [[nodiscard]] bool pause(Backoff& backoff) noexcept;
  void nap() noexcept;
  /// A number that changes whenever a poll has moved data. By the thread that polls.
  [[nodiscard]] virtual std::uint64_t moves() const noexcept { return 0; }
  /// Orders later work on the stream after the operation without waiting for its end. Returns false if only the host
  /// can wait. Otherwise the device's work and the buffers must live until the stream has passed.
  virtual bool order_before(device::StreamHandle /*stream*/) { return false; }
  /// Whether order_before() will return true in a later poll, before the operation is over.
  [[nodiscard]] virtual bool will_order() const noexcept { return false; }
  [[nodiscard]] Context& comm() const noexcept { return *comm_; }
  /// For check mode: verify() tells the owner of the request more than the end, by an Error; give_up() says that it
  /// has none any more.
  [[nodiscard]] bool is_watched() const noexcept { return is_watched_; }
  virtual void verify() const {}
  virtual void give_up() noexcept {}
  /// Whether it takes steps inside the host MPI's calls too, where step() makes no MPI call that makes progress. Equal
  /// at all times.
  [[nodiscard]] virtual bool goes_on_inside_mpi() const noexcept { return false; }
  /// The status of a completed receive.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 protected:
  /// Posts the first messages. Returns true if the operation is complete.
  virtual bool begin() = 0;
  /// Continues without blocking. Returns true once the operation is complete.
  virtual bool step() = 0;
  /// Gives up all posted messages, which may still read or write the buffers.
  virtual void cancel() noexcept = 0;
  /// Returns true if a failure leaves the communicator's order of messages in doubt.
  [[nodiscard]] virtual bool breaks_communicator() const noexcept { return true; }

  /// Gives up an execution that is part of this one; this one reports the failure.
  static void drop_part(Execution& part) noexcept {
    if (part.phase() == Phase::active) part.cancel();
    part.phase_.store(Phase::idle, std::memory_order_release);
  }

  void watch() noexcept { is_watched_ = true; }

  /// Time left until this call's timeout; 0 if it has none.
  [[nodiscard]] std::chrono::nanoseconds time_left() const noexcept {
    using std::chrono::nanoseconds;
    if (timeout_ <= nanoseconds{0}) return nanoseconds{0};
    return std::max<nanoseconds>(deadline_ - std::chrono::steady_clock::now(), nanoseconds{1});
  }

  Status status_{};

 private:
  void note_long_wait() noexcept;

  void succeed() noexcept {
    note_.came_from(status_.source, status_.tag);
    note_.end(flight::State::done);
    phase_.store(Phase::done, std::memory_order_release);
  }
  void fail_now(std::exception_ptr failure, ErrorCode code, const std::string& message) noexcept;
  /// Looks at the clock now and then: at the timeout, and whether a rank has ended. Returns true if that failed the
  /// execution.
  [[nodiscard]] bool has_waited_in_vain();

  std::shared_ptr<Context> comm_;
  std::chrono::nanoseconds timeout_;
  std::chrono::steady_clock::time_point deadline_{};
  std::uint64_t polls_ = 0;
  std::exception_ptr failure_{};
  ErrorCode error_ = ErrorCode::success;
  std::atomic<Phase> phase_{Phase::idle};
  bool persistent_;
  bool is_watched_ = false;
  Tally* tally_ = nullptr;
  std::uint64_t tally_bytes_ = 0;
  flight::Note note_{};
  std::chrono::steady_clock::time_point first_look_{};
  bool has_place_ = false;
  flight::Recorder* recorder_ = nullptr;  ///< null: starts are not recorded
  flight::Facts facts_{};
};

/// The exception that is being handled, as Error: one of another class gets a text that begins with `who`.
[[nodiscard]] Error as_error(const std::string& who);

/// The error where there is no memory even for its words. Made by the first communicator.
[[nodiscard]] const Error& error_without_words();

/// Drives to its end an execution that has no other driver, and all outstanding executions with it. Throws its failure.
void run_to_end(Execution& execution);
/// The same for one that has been started, and without the throw.
void drive_to_end(Execution& execution);

}  // namespace tutti::detail
