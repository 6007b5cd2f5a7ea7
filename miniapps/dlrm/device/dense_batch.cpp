// SPDX-License-Identifier: BSD-3-Clause
#include "dense_batch.hpp"

#include <algorithm>

namespace dlrm {

DenseBatch::DenseBatch(const Gpu& gpu, tutti::Stream copies, std::size_t max_samples, std::size_t features)
    : gpu_(&gpu),
      copies_(copies),
      features_(features),
      label_at_(max_samples * features),
      pinned_(max_samples * (features + 1)),
      values_(max_samples * (features + 1)) {}

void DenseBatch::upload(const tutti::miniapps::Batch& batch) {
  uploaded_.wait();
  const std::size_t samples = batch.range.size();
  std::copy_n(batch.dense.data(), samples * features_, pinned_.data());
  std::copy_n(batch.labels.data(), samples, pinned_.data() + label_at_);
  used_.hold(copies_);
  const auto copy = [&](std::size_t at, std::size_t count) {
    tutti::copy_bytes(values_.data() + at, pinned_.data() + at, count * sizeof(float), copies_);
  };
  copy(0, samples * features_);
  copy(label_at_, samples);
  uploaded_.record(copies_);
  uploaded_.hold(gpu_->call_stream());
}

}  // namespace dlrm
