// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <algorithm>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "common/command_line/progress.hpp"
#include "common/phases.hpp"
#include "workload_step.hpp"

namespace sgd {

namespace {

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
