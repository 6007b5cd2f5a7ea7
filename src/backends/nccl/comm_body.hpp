// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "backends/nccl/connections.hpp"
#include "backends/nccl/launcher.hpp"
#include "backends/nccl/table.hpp"

namespace tutti::detail::nccl {

/// The state of a Comm. All NCCL calls on the handle are made under the launch lock, because NCCL lets one thread at a
/// time use a communicator, also to ask for its state; but not the last one of all, that of a thread that finalizes.
/// The mutex guards the members; calls that end the handle are made under both, locked in this order.
struct CommBody {
  enum class End : std::uint8_t { none, begun, finalizing, done };

  /// The registration of a range of the library's allocator with NCCL.
  struct Registration {
    bool was_offered = false;  ///< as a buffer, so NCCL is not asked again
    void* buffer = nullptr;
    WindowHandle window = nullptr;
  };

  /// A call that waits for the work and for other ranks, in a thread of its own, so that a time limit holds for it.
  struct Finalizing {
    explicit Finalizing(int device) : thread(device) {}
    Launcher thread;
    std::shared_ptr<std::atomic<Result>> result = std::make_shared<std::atomic<Result>>(Result::in_progress);
  };

  /// Communicators that share resources: NCCL's abort of one ends the work of all.
  struct Family {
    std::atomic<bool> is_aborted{false};
  };

  CommBody(const Table& functions, int of_device, std::chrono::nanoseconds end_after)
      : table(functions), device(of_device), patience(end_after) {}

  /// Gives the asynchronous state and returns whether it could be asked for. Throws aborted. Under the launch lock.
  [[nodiscard]] Result poll();
  /// Like poll(), by a caller without the launch lock. Nothing if another thread holds the lock: ask again later.
  [[nodiscard]] std::optional<Result> poll_between_launches();
  void throw_if_aborted() const;
  /// Itself, or one that it shares resources with.
  [[nodiscard]] bool is_aborted() const noexcept { return aborted.load(std::memory_order_acquire) || is_lost(); }
  /// Aborted by another one of its family.
  [[nodiscard]] bool is_lost() const noexcept {
    return family->is_aborted.load(std::memory_order_acquire) && !aborted.load(std::memory_order_acquire);
  }
  /// Sets the configuration by the settings of the process and the options of the communicator.
  void configure(const CommunicatorOptions& options);
  /// The text of an error: "ncclAllReduce failed: unhandled system error: NCCL's last message".
  [[nodiscard]] std::string text(const char* what, Result result) const;
  /// Forgets a range that is released. Takes both locks.
  void deregister(std::uint64_t range) noexcept;
  /// Makes the device current if possible; the returned object restores the former device when it ends.
  [[nodiscard]] std::unique_ptr<device::Guard> on_device() const noexcept;

  const Table table;
  const int device;
  const std::chrono::nanoseconds patience;  ///< time limit for ending; 0: a minute
  CommHandle handle = nullptr;
  Config config{};
  std::string name{};         ///< that the configuration refers to
  bool is_blocking = false;   ///< NCCL's calls return when they are done
  Connections connections{};  ///< under the launch lock
  std::mutex mutex{};
  std::atomic<bool> aborted{false};
  std::shared_ptr<Family> family = std::make_shared<Family>();
  bool is_splitting = false;  ///< another thread is in a call on the handle; under the mutex
  std::shared_ptr<std::atomic<int>> graphs = std::make_shared<std::atomic<int>>(0);
  std::uint64_t last_capture = 0;
  std::map<std::pair<DataType, std::uint64_t>, RedOp> factors{};  ///< by the factor's bits, because NaN has no order

  std::map<std::uint64_t, Registration> registrations{};  ///< by the number of the range
  std::vector<std::uint64_t> windows{};  ///< ranges whose windows all ranks had when they last agreed, and later ones
  End end = End::none;
  std::chrono::steady_clock::time_point end_by{};
  std::unique_ptr<Finalizing> finalizing{};  ///< of a communicator that blocks
};

// The end of NCCL communicators: in order or by abort, at once or when their graphs are gone. Any thread, without the
// launch lock.

/// Finalizes and destroys a communicator; waits up to its patience, then aborts. Leaves a communicator that graphs
/// still use to go_on_ending().
void end_with_patience(const std::shared_ptr<CommBody>& body) noexcept;
/// Aborts a communicator that is marked as aborted: now if possible, otherwise by go_on_ending().
void begin_abort(const std::shared_ptr<CommBody>& body) noexcept;
/// Polls each waiting communicator once. Never waits.
void go_on_ending() noexcept;

}  // namespace tutti::detail::nccl
