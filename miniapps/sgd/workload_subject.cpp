// SPDX-License-Identifier: BSD-3-Clause
#include "workload_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run.hpp"
#include "source.hpp"
#include "workload_shapes.hpp"

namespace sgd {

namespace {

class WorkloadSubject : public Subject {
 public:
  explicit WorkloadSubject(const WorkloadFlags& flags) : workload_(workload_of(flags)), load_(flags.load) {}

  std::string title() const override {
    const auto shapes = workload_shapes(workload_.network);
    return fmt::format("{}, {} parameters, {:.1f} MB of gradients; backward {:g} ms of {}", workload_.network,
                       shapes.size(), static_cast<double>(elements(shapes)) * 4e-6, workload_.backward_ms, load_);
  }

  std::vector<Figures> measure(const tutti::Communicator& comm, const std::vector<Method>& methods,
                               Growth growth) override {
    Workload workload = workload_;
    if (growth == Growth::strong) {
      workload.forward_ms /= comm.size();
      workload.backward_ms /= comm.size();
    }
    const auto times = measure_workload(comm, workload, methods);
    std::vector<Figures> figures;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const StepTimes& alone = times.front().median;
      figures.push_back({times[i].method, alone.forward, alone.backward, exposed_ms(times, i), alone.update,
                         times[i].median.step, times[i].buckets, times[i].bucket_bytes,
                         static_cast<double>(times[i].bytes_per_step), times[i].wrong});
    }
    return figures;
  }

 private:
  Workload workload_;
  std::string load_;
};

double phase_of(const TrainingResults& results, const std::string& name) {
  const auto found = std::find_if(results.phases.begin(), results.phases.end(),
                                  [&](const tutti::miniapps::PhaseTime& phase) { return phase.name == name; });
  return found == results.phases.end() ? 0 : found->mean;
}

class TaskSubject : public Subject {
 public:
  explicit TaskSubject(const Options& options) : options_(options), source_(make_source(options)) {
    options_.test_at_end = false;
  }

  std::string title() const override {
    return fmt::format("{} on {}, batch {}", options_.model, source_->description(), options_.batch_size);
  }

  std::vector<Figures> measure(const tutti::Communicator& comm, const std::vector<Method>& methods,
                               Growth growth) override {
    std::vector<Figures> figures;
    for (const Method& method : methods) {
      if (method.mode == "none") continue;
      Options options = options_;
      options.mode = method.mode;
      options.hook = method.has_buckets() ? method.hook : "none";
      options.bucket_bytes = method.bucket_bytes;
      options.first_bucket_bytes = method.first_bucket_bytes;
      if (growth == Growth::weak) options.batch_size *= static_cast<std::size_t>(comm.size());
      const TrainingResults found = run_mode(comm, options, *source_, [](const std::string&) {}).training;
      figures.push_back({method, phase_of(found, "data") + phase_of(found, "forward"), phase_of(found, "backward"),
                         found.exposed_ms, phase_of(found, "update"), found.ms_per_step, 0, method.bucket_bytes,
                         found.bytes_per_step, 0});
    }
    return figures;
  }

 private:
  Options options_;
  std::unique_ptr<Source> source_;
};

}  // namespace

std::unique_ptr<Subject> make_subject(const WorkloadFlags& flags, const Options& options) {
  if (!flags.network.empty()) return std::make_unique<WorkloadSubject>(flags);
  return std::make_unique<TaskSubject>(options);
}

}  // namespace sgd
