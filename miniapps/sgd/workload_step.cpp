// SPDX-License-Identifier: BSD-3-Clause
#include "workload_step.hpp"

#include <algorithm>
#include <chrono>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/kernels/optimizers.hpp>

namespace sgd {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Backward goes against the order of registration, each parameter as long as its part of all values.
std::vector<double> shares_of(const std::vector<Shape>& shapes) {
  const auto total = static_cast<double>(elements(shapes));
  std::vector<double> shares(shapes.size());
  double done = 0;
  for (std::size_t i = shapes.size(); i-- > 0;) {
    done += static_cast<double>(elements(shapes[i]));
    shares[i] = done / total;
  }
  return shares;
}

}  // namespace

WorkloadStep::WorkloadStep(const tutti::Communicator& comm, const Workload& workload, const std::vector<Shape>& shapes)
    : comm_(comm),
      workload_(workload),
      gradients_(shapes),
      share_(shares_of(shapes)),
      work_(make_timed_work(comm, workload.load)) {
  if (!workload.updates) return;
  for (const Shape& shape : shapes) {
    parameters_.emplace_back(elements(shape));
  }
}

StepTimes WorkloadStep::run(Exchange& exchange, std::size_t step) {
  tutti::barrier(comm_);
  StepTimes times;
  const double begin = now_ms();
  work_->begin(workload_.forward_ms);
  work_->advance_to(1, {});
  const double forward = now_ms();
  backward(exchange, step);
  const double backward = now_ms();
  exchange.finish();
  const double finish = now_ms();
  if (workload_.updates) update(exchange, step);
  const double end = now_ms();
  return {forward - begin, backward - forward, finish - backward, end - finish, end - begin};
}

void WorkloadStep::backward(Exchange& exchange, std::size_t step) {
  constexpr std::size_t chunk = std::size_t{1} << 16U;  // 256 KiB: as long as an interval between calls
  std::function<void()> progress;
  if (exchange.wants_progress()) progress = [&exchange] { exchange.progress(); };
  work_->begin(workload_.backward_ms);
  for (std::size_t i = share_.size(); i-- > 0;) {
    const std::span<float> gradient = exchange.gradient(i);
    for (std::size_t at = 0; at < gradient.size(); at += chunk) {
      const auto part = gradient.subspan(at, std::min(chunk, gradient.size() - at));
      gradients_.write(i, at, part, comm_.rank(), step);
      if (progress && part.size() == chunk) progress();
    }
    work_->advance_to(share_[i], progress);
    exchange.ready(i);
  }
}

void WorkloadStep::update(Exchange& exchange, std::size_t step) {
  const tutti::kernels::DenseUpdate sgd{.learning_rate = 1e-6};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    tutti::kernels::dense_update(sgd, step + 1, std::span<float>(parameters_[i]), exchange.gradient(i),
                                 std::span<float>());
  }
}

std::size_t WorkloadStep::count_wrong(Exchange& exchange, std::size_t step, double tolerance) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < share_.size(); ++i) {
    wrong += gradients_.count_wrong(i, exchange.gradient(i), comm_.size(), step, tolerance);
  }
  tutti::allreduce(comm_, tutti::Buffer(&wrong, 1), tutti::ReduceKind::sum);
  return wrong;
}

}  // namespace sgd
