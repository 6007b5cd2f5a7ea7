// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>

#include "device/runtime.hpp"

namespace dlrm {

/// This rank's GPU and the stream of its steps. The ranks of a node take its GPUs in turn.
class Gpu {
 public:
  /// Makes the GPU the current one of this process. Collective over `comm`; blocking. Throws AgreedError that names
  /// --device and the remedy where a rank has none, or the program no kernels for it.
  explicit Gpu(const tutti::Communicator& comm);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] tutti::detail::device::StreamHandle stream() const { return stream_; }
  /// For options of calls.
  [[nodiscard]] tutti::Stream call_stream() const { return {tutti::StreamKind::cuda, stream_}; }
  /// Its name.
  [[nodiscard]] std::string text() const;
  /// Until all that is on the stream is done.
  void wait() const;

 private:
  int device_ = 0;
  tutti::detail::device::StreamHandle stream_ = nullptr;
};

/// Until an event is there, while the library's other work goes on.
void wait_for(tutti::detail::device::EventHandle event);

}  // namespace dlrm
