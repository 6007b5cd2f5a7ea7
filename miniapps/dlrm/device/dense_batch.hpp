// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/data_source.hpp"
#include "common/device/array.hpp"
#include "gpu.hpp"

namespace dlrm {

/// The dense features and labels of a batch on the GPU: written in pinned memory, and copied on a stream of copies,
/// which waits for the last use of the memory, and for which the GPU's stream waits.
class DenseBatch {
 public:
  DenseBatch(const Gpu& gpu, tutti::Stream copies, std::size_t max_samples, std::size_t features);

  /// Waits for the last copy.
  void upload(const tutti::miniapps::Batch& batch);
  /// What uses the batch is on the GPU's stream.
  void note_use() { used_.record(gpu_->call_stream()); }

  [[nodiscard]] const float* features() const { return values_.data(); }
  [[nodiscard]] const float* labels() const { return values_.data() + label_at_; }

 private:
  const Gpu* gpu_;
  tutti::Stream copies_;
  std::size_t features_;
  std::size_t label_at_;  ///< the same for all batches, as graphs need it
  tutti::miniapps::device::PinnedArray<float> pinned_;
  tutti::miniapps::device::Array<float> values_;
  tutti::DeviceEvent uploaded_;
  tutti::DeviceEvent used_;
};

}  // namespace dlrm
