// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tutti/error.hpp>
#include <utility>

#include "backends/nccl/table.hpp"

namespace tutti::detail::nccl {

/// What is behind a Comm. Calls of NCCL on the handle are made under the launch lock, the mutex, or, where they end it,
/// both; in this order.
struct CommBody {
  enum class End : std::uint8_t { none, begun, finalizing, done };

  /// What a range of the library's allocator is to NCCL.
  struct Registration {
    bool was_offered = false;  ///< as a buffer: NCCL is not asked again
    void* buffer = nullptr;
    WindowHandle window = nullptr;
  };

  CommBody(const Table& functions, int of_device, std::chrono::nanoseconds end_after)
      : table(functions), device(of_device), patience(end_after) {}

  /// The asynchronous state, whether it could be asked for or not. Throws aborted.
  [[nodiscard]] Result poll();
  void throw_if_aborted() const;
  /// "ncclAllReduce failed: unhandled system error: what NCCL said last".
  [[nodiscard]] std::string text(const char* what, Result result) const;
  /// The range is released: it is forgotten. Takes both locks.
  void deregister(std::uint64_t range) noexcept;
  /// Makes the device current where that is possible; the former one at the end of what is returned.
  [[nodiscard]] std::unique_ptr<device::Guard> on_device() const noexcept;

  const Table table;
  const int device;
  const std::chrono::nanoseconds patience;  ///< for the end; 0: a minute
  CommHandle handle = nullptr;
  std::mutex mutex{};
  std::atomic<bool> aborted{false};
  std::shared_ptr<std::atomic<int>> graphs = std::make_shared<std::atomic<int>>(0);
  std::uint64_t last_capture = 0;
  std::map<std::pair<DataType, std::uint64_t>, RedOp> factors{};  ///< by the factor's bits: a NaN has no order

  std::map<std::uint64_t, Registration> registrations{};  ///< by the number of the range
  End end = End::none;
  std::chrono::steady_clock::time_point end_by{};
};

}  // namespace tutti::detail::nccl
