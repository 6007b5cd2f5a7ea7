// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <vector>

#include "common/command_line/progress.hpp"
#include "common/phases.hpp"
#include "workload_exchange.hpp"
#include "workload_gradients.hpp"

namespace sgd {

namespace {

/// One rank's steps of a workload, by any exchange.
class WorkloadStep {
 public:
  /// Collective over `comm`, which outlives it; blocking.
  WorkloadStep(const tutti::Communicator& comm, const Workload& workload, const std::vector<Shape>& shapes);

  /// Forward, backward with the exchange, the rest of the exchange, the update; this rank's times. All ranks begin
  /// together. Collective; blocking.
  [[nodiscard]] StepTimes run(Exchange& exchange, std::size_t step);
  /// Elements that the exchange has left wrong in that step, over all ranks. Collective; blocking.
  [[nodiscard]] std::size_t count_wrong(Exchange& exchange, std::size_t step, double tolerance);

 private:
  void backward(Exchange& exchange, std::size_t step);
  void update(Exchange& exchange, std::size_t step);

  const tutti::Communicator& comm_;
  const Workload& workload_;
  MadeGradients gradients_;
  std::vector<double> share_;  ///< of backward that is over when the gradient is ready
  std::unique_ptr<TimedWork> work_;
  std::vector<std::vector<float>> parameters_;
};

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

constexpr std::size_t most_warm_up = 500;

struct Contestant {
  Method method;
  std::unique_ptr<Exchange> exchange;
  std::vector<StepTimes> times{};
};

void warm_up(WorkloadStep& work, Contestant& contestant, const Workload& workload, std::size_t& step) {
  // A method that measures has other buckets once it has settled: these are warmed up like those of a fixed size.
  std::size_t since_settled = 0;
  for (std::size_t done = 0; since_settled < workload.warm_up; ++done) {
    if (done == most_warm_up + workload.warm_up)
      throw tutti::Error(tutti::ErrorCode::internal, "method " + contestant.method.name + " does not settle");
    (void)work.run(*contestant.exchange, step++);
    if (contestant.exchange->settled()) ++since_settled;
  }
}

double median_of(const tutti::Communicator& comm, const std::vector<StepTimes>& times, double StepTimes::*part) {
  std::vector<double> values;
  std::transform(times.begin(), times.end(), std::back_inserter(values),
                 [part](const StepTimes& t) { return t.*part; });
  tutti::allreduce(comm, tutti::Buffer(values), tutti::ReduceKind::max);
  return tutti::miniapps::median(std::move(values));
}

StepTimes medians_of(const tutti::Communicator& comm, const std::vector<StepTimes>& times) {
  StepTimes medians;
  for (const auto part :
       {&StepTimes::forward, &StepTimes::backward, &StepTimes::finish, &StepTimes::update, &StepTimes::step}) {
    medians.*part = median_of(comm, times, part);
  }
  return medians;
}

MethodTimes result_of(const tutti::Communicator& comm, WorkloadStep& work, Contestant& contestant, std::size_t step) {
  const Method& method = contestant.method;
  const double tolerance = method.is_exact() ? 1e-6 : 0.01;
  MethodTimes result;
  result.method = method;
  result.median = medians_of(comm, contestant.times);
  result.buckets = contestant.exchange->buckets();
  result.bucket_bytes = contestant.exchange->bucket_bytes();
  result.bytes_per_step = contestant.exchange->bytes();
  result.map = contestant.exchange->map();
  result.wrong = method.mode == "none" ? 0 : work.count_wrong(*contestant.exchange, step, tolerance);
  return result;
}

}  // namespace

std::vector<MethodTimes> measure_workload(const tutti::Communicator& comm, const Workload& workload,
                                          const std::vector<Method>& methods) {
  const auto shapes = workload_shapes(workload.network);
  WorkloadStep work(comm, workload, shapes);
  std::vector<Contestant> contestants;
  std::size_t step = 0;
  for (const Method& method : methods) {
    contestants.push_back({method, make_exchange(comm, method, shapes)});
    warm_up(work, contestants.back(), workload, step);
  }
  tutti::command_line::Progress progress("measuring", workload.steps, comm.rank() == 0);
  for (std::size_t round = 0; round < workload.steps; ++round, ++step) {
    progress.update(round);
    for (Contestant& contestant : contestants) {
      contestant.times.push_back(work.run(*contestant.exchange, step));
    }
  }
  std::vector<MethodTimes> results;
  for (Contestant& contestant : contestants) {
    results.push_back(result_of(comm, work, contestant, step - 1));
  }
  return results;
}

double exposed_ms(const std::vector<MethodTimes>& times, std::size_t method) {
  return times[method].median.step - times.front().median.step;
}

}  // namespace sgd
