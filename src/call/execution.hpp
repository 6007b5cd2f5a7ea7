// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <tutti/error.hpp>
#include <tutti/request.hpp>

#include "device/runtime.hpp"

namespace tutti::detail {

struct Context;

/// One run of an operation. begin() posts the first messages, step() goes on without blocking. What drives it (a
/// blocking call, or the progress engine for a request) calls start() and poll(); a failure is kept for the caller.
class Execution {
 public:
  enum class Phase : std::uint8_t { idle, active, done, failed };

  Execution(std::shared_ptr<Context> comm, std::chrono::nanoseconds timeout, bool persistent);
  virtual ~Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Begins; afterwards the phase is active, done or failed.
  void start() noexcept;
  /// One step; true when the execution is done or failed. Called by one thread at a time.
  bool poll() noexcept;
  /// Ends an active execution with an error.
  void fail(ErrorCode code, const std::string& message) noexcept;
  /// The owner has seen the end of a persistent execution: it is idle again.
  void acknowledge() noexcept { phase_.store(Phase::idle, std::memory_order_release); }
  /// Rethrows the failure, if there is one.
  void rethrow() const;

  [[nodiscard]] Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  [[nodiscard]] bool finished() const noexcept { return phase() == Phase::done || phase() == Phase::failed; }
  /// Success until the execution has failed.
  [[nodiscard]] ErrorCode error() const noexcept { return phase() == Phase::failed ? error_ : ErrorCode::success; }
  [[nodiscard]] bool persistent() const noexcept { return persistent_; }
  /// For messages: "allreduce (ring)".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Passes a longer time in which nothing is to be done. A backend that can be woken asks for it by
  /// announce_backoff(), after which the caller polls once more.
  virtual void announce_backoff() noexcept {}
  virtual void backoff() noexcept;
  /// Orders the operation before what follows on the stream, without its end being waited for; false where only the
  /// host can wait. Work of the device and buffers must then live until the stream has passed.
  virtual bool order_before(device::StreamHandle /*stream*/) { return false; }
  [[nodiscard]] Context& comm() const noexcept { return *comm_; }
  /// Of a completed receive.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 protected:
  /// Posts what can be posted; true when there is nothing more to do.
  virtual bool begin() = 0;
  /// Goes on without blocking; true when complete.
  virtual bool step() = 0;
  /// Lets go of what is posted. The buffers may still be read or written by messages under way.
  virtual void cancel() noexcept = 0;
  /// Whether a failure leaves the communicator's order of messages in doubt.
  [[nodiscard]] virtual bool breaks_communicator() const noexcept { return true; }

  /// Lets go of an execution that is a part of this one, which reports the failure.
  static void drop_part(Execution& part) noexcept {
    if (part.phase() == Phase::active) part.cancel();
    part.phase_.store(Phase::idle, std::memory_order_release);
  }

  Status status_{};

 private:
  void fail_now(std::exception_ptr failure, ErrorCode code, const std::string& message) noexcept;
  [[nodiscard]] bool expired() noexcept;

  std::shared_ptr<Context> comm_;
  std::chrono::nanoseconds timeout_;
  std::chrono::steady_clock::time_point deadline_{};
  std::uint64_t polls_ = 0;
  std::exception_ptr failure_{};
  ErrorCode error_ = ErrorCode::success;
  std::atomic<Phase> phase_{Phase::idle};
  bool persistent_;
};

/// Drives an execution that nobody else drives to its end, and all outstanding ones beside it. Throws its failure.
void run_to_end(Execution& execution);

}  // namespace tutti::detail
