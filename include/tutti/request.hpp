// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/error.hpp>
#include <tutti/options.hpp>

namespace tutti {

namespace detail {
class Execution;
}

/// What a receive found. Counterpart: MPI_Status.
struct Status {
  int source = -1;
  int tag = -1;
  std::size_t count = 0;  ///< elements received
};

/// One running, or one persistent, operation. Move-only. Not a collective object: every rank holds its own.
/// Destroying an active request detaches it: the operation goes on, driven by later calls of the library, and its
/// buffers must stay valid until it is done. Counterpart: MPI_Request.
class TUTTI_EXPORT Request {
 public:
  Request() noexcept;
  ~Request();
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// True when done (then a nonpersistent request is empty). Never blocks; progresses all outstanding operations of
  /// the process. Throws Error when the operation failed. An empty or inactive request is done.
  bool test();

  /// True when what follows on the stream comes after the operation, as after wait(stream); never blocks. Errors as
  /// test(), which it is without a stream.
  bool test(Stream stream);

  /// Blocks until done: tests and yields, never blocks inside MPI. Errors as test().
  void wait();

  /// Orders the operation before what follows on the stream: returns at once where the device does the work (NCCL), and
  /// when the communication is done where the host does. Of what goes wrong later the next call tells. A nonpersistent
  /// request is empty afterwards. Without a stream, or a device operation: as wait(). Counterpart: cudaStreamWaitEvent.
  void wait(Stream stream);

  /// Persistent requests only: starts the operation again on the same buffers. Throws if it is still active; one that
  /// was only ordered on a stream is waited for first.
  void start();

  /// The error of a failed operation, without throwing, also after test() or wait() has thrown it; success while the
  /// operation runs and after it succeeded.
  [[nodiscard]] ErrorCode error() const noexcept;

  /// Whether there is an operation behind this request.
  [[nodiscard]] bool valid() const noexcept { return execution_ != nullptr; }
  /// Whether the operation was started and has not completed.
  [[nodiscard]] bool active() const noexcept;
  /// Whether it was started and its end has not been seen by test() or wait().
  [[nodiscard]] bool pending() const noexcept;
  [[nodiscard]] bool persistent() const noexcept;

  /// For a completed receive: what arrived. Of a nonpersistent request it stays readable after test() and wait().
  [[nodiscard]] const Status& status() const noexcept { return status_; }

  explicit Request(std::shared_ptr<detail::Execution> execution) noexcept;
  [[nodiscard]] const std::shared_ptr<detail::Execution>& execution() const noexcept { return execution_; }

 private:
  void finish();
  std::shared_ptr<detail::Execution> execution_;
  Status status_{};
  ErrorCode error_{};
  bool is_ordered_ = false;  ///< a persistent operation whose end a stream waits for
};

/// Waits for all; throws the first error after all have completed. Counterpart: MPI_Waitall.
TUTTI_EXPORT void wait_all(std::span<Request> requests);

/// Waits for one and gives its index; nothing when none is active. Counterpart: MPI_Waitany.
TUTTI_EXPORT std::optional<std::size_t> wait_any(std::span<Request> requests);

}  // namespace tutti
