// SPDX-License-Identifier: BSD-3-Clause
#include "dense_batch.hpp"

#include <algorithm>

namespace dlrm {

DenseBatch::DenseBatch(const Gpu& gpu, tutti::detail::device::StreamHandle copies, std::size_t max_samples,
                       std::size_t features)
    : gpu_(&gpu),
      copies_(copies),
      features_(features),
      label_at_(max_samples * features),
      pinned_(max_samples * (features + 1)),
      values_(max_samples * (features + 1)) {}

void DenseBatch::upload(const tutti::miniapps::Batch& batch) {
  auto& runtime = *tutti::detail::device::runtime();
  if (uploaded_.is_recorded()) {
    wait_for(uploaded_.handle());
  }
  const std::size_t samples = batch.range.size();
  std::copy_n(batch.dense.data(), samples * features_, pinned_.data());
  std::copy_n(batch.labels.data(), samples, pinned_.data() + label_at_);
  if (used_.is_recorded()) {
    runtime.wait_event(copies_, used_.handle());
  }
  const auto copy = [&](std::size_t at, std::size_t count) {
    if (count > 0) {
      runtime.copy(values_.data() + at, pinned_.data() + at, count * sizeof(float), copies_);
    }
  };
  copy(0, samples * features_);
  copy(label_at_, samples);
  uploaded_.record(gpu_->device(), copies_);
  runtime.wait_event(gpu_->stream(), uploaded_.handle());
}

}  // namespace dlrm
