// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/stream_watch.hpp"
#include "call/backend.hpp"

namespace tutti::detail::nccl {

/// The NCCL communicator of a communicator that is prepared for device memory.
class State final : public BackendState {
 public:
  /// registers: all ranks register memory of the library's allocator with NCCL.
  State(Context& context, std::unique_ptr<Comm> comm, bool registers)
      : comm_(std::move(comm)), watch_(context, *comm_), registers_(registers) {}

  [[nodiscard]] Comm& comm() const noexcept { return *comm_; }
  [[nodiscard]] StreamWatch& watch() noexcept { return watch_; }
  [[nodiscard]] bool registers() const noexcept { return registers_; }
  [[nodiscard]] bool is_released() const noexcept { return comm_ == nullptr; }

  void abort() noexcept override;
  void release() noexcept override;

 private:
  std::mutex mutex_;  ///< a concurrent abort ends before the communicator does
  std::unique_ptr<Comm> comm_;
  StreamWatch watch_;
  bool registers_;
};

/// Null if the communicator does not use NCCL.
[[nodiscard]] State* state_of(const Context& context) noexcept;

}  // namespace tutti::detail::nccl
