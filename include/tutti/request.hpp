// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/error.hpp>
#include <tutti/options.hpp>
#include <utility>
#include <vector>

namespace tutti {

class Request;

namespace detail {
class Execution;
/// For holders of detached requests: their owner waits no more.
TUTTI_EXPORT void give_up(const Request& request) noexcept;
}  // namespace detail

/// The result of a receive: source, tag and length of the message. Counterpart: MPI_Status.
struct Status {
  int source = -1;
  int tag = -1;
  std::size_t count = 0;  ///< length of the message, in elements
};

/// A running or persistent operation. Move-only. Not a collective object: every rank holds its own.
/// Destroying an active request detaches it: later calls of the library drive the operation to its end, and its buffers
/// must stay valid until then. Counterpart: MPI_Request.
class TUTTI_EXPORT Request {
 public:
  Request() noexcept = default;
  ~Request() = default;
  Request(Request&& other) noexcept = default;
  Request& operator=(Request&& other) noexcept = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Returns true once the operation is done; a nonpersistent request is then empty. An empty or inactive request is
  /// done. Never blocks. Advances all outstanding operations of the process. Throws Error if the operation failed.
  /// Counterpart: MPI_Test.
  bool test();

  /// Returns true once later work on the stream is ordered after the operation, as after wait(stream). Never blocks, so
  /// the first call may return false while NCCL connects. Errors as test(). Without a stream, the same as test().
  bool test(Stream stream);

  /// Blocks until the operation is done. Tests and yields in turn, and never blocks inside MPI. Errors as test().
  /// Counterpart: MPI_Wait.
  void wait();

  /// Orders later work on the stream after the operation. Returns once the work is launched if the device does it
  /// (NCCL), which waits for the other ranks' starts if NCCL has to connect; returns when the communication is done if
  /// the host does it. The next call reports an error that occurs after this one has returned. A nonpersistent request
  /// is empty afterwards. Without a stream, or for an operation on host memory, the same as wait(). Counterpart:
  /// cudaStreamWaitEvent.
  void wait(Stream stream);

  /// Starts a persistent operation again on the same buffers. Throws if it is still active. Waits first for an
  /// operation that was only ordered on a stream. Counterpart: MPI_Start.
  void start();

  /// Returns the error of a failed operation without throwing, even after test() or wait() has thrown it; success while
  /// the operation runs and after it has succeeded.
  [[nodiscard]] ErrorCode error() const noexcept;

  /// Returns true unless the request is empty.
  [[nodiscard]] bool valid() const noexcept { return execution_ != nullptr; }
  /// Returns true from the start of the operation until it has completed.
  [[nodiscard]] bool active() const noexcept;
  /// Returns true from the start of the operation until test() or wait() has seen it complete.
  [[nodiscard]] bool pending() const noexcept;
  /// Returns true if the operation may be started again.
  [[nodiscard]] bool persistent() const noexcept;

  /// The status of a completed receive. It stays readable after test() or wait() has emptied the request.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

  explicit Request(std::shared_ptr<detail::Execution> execution) noexcept : execution_(std::move(execution)) {}
  [[nodiscard]] const std::shared_ptr<detail::Execution>& execution() const noexcept { return execution_; }

 private:
  void finish();
  std::shared_ptr<detail::Execution> execution_;
  Status status_{};
  ErrorCode error_{};
  bool is_ordered_ = false;  ///< a stream waits for the end of this persistent operation
};

/// Starts persistent requests, in their order. Local. Errors: as Request::start(); the requests before a failed one are
/// active. Counterpart: MPI_Startall.
TUTTI_EXPORT void start_all(std::span<Request> requests);

/// Waits for all requests; throws the first error after all have completed. Blocking. Counterpart: MPI_Waitall.
TUTTI_EXPORT void wait_all(std::span<Request> requests);

/// Waits for one request and returns its index, or nothing if no request is active. Blocking. Counterpart: MPI_Waitany.
TUTTI_EXPORT std::optional<std::size_t> wait_any(std::span<Request> requests);

/// Waits until at least one request is done and returns the indices of all that are, in ascending order; returns none
/// if no request is active. Blocking. Throws the first error after all of these requests have been completed.
/// Counterpart: MPI_Waitsome.
[[nodiscard]] TUTTI_EXPORT std::vector<std::size_t> wait_some(std::span<Request> requests);

/// Returns true once all requests are done; until then none is completed, so that each is still pending. Empty and
/// inactive requests are done. Never blocks. Errors as wait_all(). Counterpart: MPI_Testall.
[[nodiscard]] TUTTI_EXPORT bool test_all(std::span<Request> requests);

/// Completes one request that is done and returns its index, or nothing if none is. Never blocks. Errors as
/// Request::test(). Counterpart: MPI_Testany.
[[nodiscard]] TUTTI_EXPORT std::optional<std::size_t> test_any(std::span<Request> requests);

/// Completes all requests that are done and returns their indices, in ascending order. Never blocks. Errors as
/// wait_some(). Counterpart: MPI_Testsome.
[[nodiscard]] TUTTI_EXPORT std::vector<std::size_t> test_some(std::span<Request> requests);

}  // namespace tutti
