// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/device.hpp>

namespace dlrm {

/// This rank's GPU and the stream of its steps. The ranks of a node take its GPUs in turn.
class Gpu {
 public:
  /// Makes the GPU the current one of this process. Collective over `comm`; blocking. Throws AgreedError that names
  /// --device and the remedy where a rank has none, or the program no kernels for it.
  explicit Gpu(const tutti::Communicator& comm);

  /// A cudaStream_t.
  [[nodiscard]] void* stream() const { return stream_->handle(); }
  /// For options of calls.
  [[nodiscard]] tutti::Stream call_stream() const { return stream_->stream(); }
  /// Its name.
  [[nodiscard]] std::string text() const { return tutti::device_name(device_); }
  /// Returns when all that is on the stream so far is done.
  void wait() const;

 private:
  int device_ = 0;
  std::optional<tutti::DeviceStream> stream_;
};

}  // namespace dlrm
