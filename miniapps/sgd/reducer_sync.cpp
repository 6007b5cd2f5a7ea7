// SPDX-License-Identifier: BSD-3-Clause
#include "reducer_sync.hpp"

#include <fmt/format.h>

namespace sgd {

namespace {

std::shared_ptr<tutti::CommunicationHook> hook_of(const Options& o) {
  if (o.hook == "powersgd") {
    tutti::PowerSgdOptions options;
    options.rank = o.power_sgd_rank;
    options.start_step = o.power_sgd_start;
    options.seed = o.seed;
    return tutti::power_sgd_hook(options);
  }
  return o.hook == "bf16" ? tutti::bf16_hook() : o.hook == "fp16" ? tutti::fp16_hook() : nullptr;
}

}  // namespace

tutti::ReducerOptions reducer_options(const Options& o) {
  tutti::ReducerOptions options;
  options.bucket_bytes = o.bucket_bytes;
  options.first_bucket_bytes = o.first_bucket_bytes;
  options.op = tutti::ReduceKind::sum;
  options.uneven = o.mode == "join";
  options.check = o.check;
  options.communicators = o.communicators;
  options.progress_thread = o.progress_thread;
  options.hook = hook_of(o);
  options.blocks = o.reproducible ? o.blocks : 0;
  return options;
}

template <typename Float>
ReducerSync<Float>::ReducerSync(const tutti::Communicator& comm, const Options& options,
                                const std::vector<Tensor<Float>>& tensors, const tutti::ReducerOptions& reducer_options)
    : overlaps_(options.mode != "bucketed"),
      adds_blocks_(reducer_options.blocks > 0),
      feeds_back_(options.hook == "powersgd"),
      prints_map_(options.print_map),
      reducer_(comm, reducer_options) {
  constexpr auto type = std::is_same_v<Float, float> ? tutti::DatatypeKind::float32 : tutti::DatatypeKind::float64;
  for (const auto& tensor : tensors) {
    reducer_.add({tensor.name, tensor.shape, type, tensor.value.data(), tensor.gradient.data()});
  }
  reducer_.prepare();
}

template <typename Float>
void ReducerSync<Float>::begin_pass(bool last) {
  if (!adds_blocks_) {
    reducer_.set_sync(last);
  }
}

template <typename Float>
void ReducerSync<Float>::ready(std::size_t i, StepTimer& timer) {
  if (overlaps_) {
    timer.enter(Stage::communication);
    reducer_.ready(i);
  }
}

template <typename Float>
void ReducerSync<Float>::finish(StepTimer& timer) {
  timer.enter(Stage::communication);
  for (std::size_t i = overlaps_ ? 0 : reducer_.parameters(); i-- > 0;) {
    reducer_.ready(i);
  }
  reducer_.wait();
}

template <typename Float>
bool ReducerSync<Float>::join(StepTimer& timer) {
  timer.enter(Stage::communication);
  return reducer_.join();
}

template <typename Float>
double ReducerSync<Float>::bytes_per_step() const {
  return static_cast<double>(reducer_.statistics().bytes_per_step);
}

template <typename Float>
std::string ReducerSync<Float>::details() const {
  const auto s = reducer_.statistics();
  return fmt::format("  {} bucket{} of at most {} bytes{}{}\n", s.buckets, s.buckets == 1 ? "" : "s", s.bucket_bytes,
                     s.tuned ? ", chosen by measurement" : "", s.rebuilt ? ", in the order of arrival" : "") +
         (prints_map_ ? reducer_.map() + "\n" : "");
}

template class ReducerSync<float>;
template class ReducerSync<double>;

}  // namespace sgd
