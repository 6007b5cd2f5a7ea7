// SPDX-License-Identifier: BSD-3-Clause
#include "application.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agreed.hpp"
#include "checkpointing.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/criteo_binary.hpp"
#include "common/locked_source.hpp"
#include "data_path.hpp"
#include "device/device_engine.hpp"
#include "host_engine.hpp"
#include "inference.hpp"
#include "memory_check.hpp"
#include "mlperf_log.hpp"
#include "report.hpp"
#include "setup.hpp"
#include "step_bench.hpp"
#include "tables.hpp"
#include "trainer.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

// More than the caches hold of one batch, few enough to keep.
constexpr std::uint64_t prepared_batches = 4;

/// One run from options to results.
class Application {
 public:
  Application(const tutti::Communicator& comm, const Options& options);
  void run();

 private:
  void make_model();
  void make_engine();
  void train();
  void infer();
  void bench();
  void write(const std::function<mini::Results()>& results);
  void print(const std::string& text) const;
  TrainerEvents events(tutti::command_line::Progress& progress);
  void test(std::uint64_t step);
  [[nodiscard]] bool has_test_data() const { return options_.data_generation == "dataset" && test_->samples() > 0; }
  template <typename Action>
  void agreed(Action&& action) {
    mini::run_agreed(comm_, std::forward<Action>(action));
  }
  /// Writes to the log of MLPerf, where there is one.
  template <typename Action>
  void log(Action&& action) {
    if (!options_.mlperf_log.empty()) agreed(std::forward<Action>(action));
  }
  [[nodiscard]] double epochs_at(std::uint64_t step) const {
    return static_cast<double>(step) / static_cast<double>(trainer_->batches_per_epoch());
  }
  [[nodiscard]] bool reached() const { return tests_.back().metrics.auc >= options_.auc_threshold; }

  const tutti::Communicator& comm_;
  const Options& options_;
  std::unique_ptr<mini::DataSource> source_;
  std::optional<mini::LockedSource> feeds_source_;  ///< the source, for the threads of two feeds
  std::optional<Gpu> gpu_;                          ///< where --device
  std::unique_ptr<Model> model_;
  std::unique_ptr<Engine> engine_;
  std::optional<BatchFeed> train_;
  std::optional<BatchFeed> test_;
  std::optional<Trainer> trainer_;
  Checkpoints checkpoints_;
  Configuration configuration_;
  std::vector<mini::TestPoint> tests_;
  MlperfLog log_;
  Position start_;
};

/// A GPU says itself what does not fit.
void Application::make_model() {
  const Options& options = options_;
  const tutti::Communicator& comm = comm_;
  ModelShape shape;
  std::vector<tutti::EmbeddingTableConfig> tables;
  tutti::ShardingPlan plan;
  const std::vector<std::uint64_t> rows = rows_of_files(comm, options);
  agreed([&] {
    if (!options.json_file.empty() && comm.rank() == 0) {
      mini::check_writable(options.json_file);
    }
    source_ = make_source(options, rows);
    shape = make_shape(options, *source_);
    tables = make_tables(options, shape, *source_, comm.size());
  });
  agreed([&] { plan = make_plan(comm, options, tables); });
  if (!options.inference_only) {
    require_trainable(plan);
  }
  if (options.reproducible) {
    require_reproducible(plan, options, tables);
  }
  configuration_ = configuration(options, shape, *source_, plan);
  if (options.data_generation != "bench") {
    configuration_.emplace_back("prefetch", prefetch_text(feed_ahead(options, comm.topology())));
  }
  auto collection = collection_options(options, shape);
  if (gpu_) {
    configuration_.emplace_back("device", gpu_->text() + (options.graph ? ", steps as graphs" : ""));
    collection.memory = tutti::MemoryKind::device;
    collection.stream = gpu_->call_stream();
    collection.slots = 2;
  } else {
    check_memory(comm, bytes_in_memory(options, plan.prediction[static_cast<std::size_t>(comm.rank())].bytes));
  }
  agreed([&] { model_ = std::make_unique<Model>(comm, shape, tables, plan, collection); });
  print(header_text(configuration_, comm.size()));
  if (comm.size() > 1) {
    print(plan.text());
  }
}

void Application::make_engine() {
  if (!gpu_) {
    engine_ = std::make_unique<HostEngine>(comm_, *model_, loss_options(options_));
    return;
  }
  const DeviceEngineOptions engine{loss_options(options_), options_.compute_type == "bf16", options_.tf32,
                                   options_.graph};
  engine_ = std::make_unique<DeviceEngine>(comm_, *gpu_, *model_, engine);
}

Application::Application(const tutti::Communicator& comm, const Options& options)
    : comm_(comm), options_(options), checkpoints_(comm, options) {
  if (options.device) {
    gpu_.emplace(comm);
    if (comm.size() > 1) comm.prepare_device();  // before what may fail on one rank
  }
  log([&] {
    if (comm.rank() == 0) log_ = MlperfLog(options.mlperf_log);
  });
  make_model();
  agreed([&] {
    // Draws the weights before a checkpoint is loaded too, because its tables may have fewer rows.
    if (options.load.empty() || reads_text(options)) {
      set_first_weights(options, *source_, *model_);
    }
    FeedOptions feed{.ahead = feed_ahead(options, comm.topology())};
    if (options.table_memory > 0) {
      feed.on_read = [this, lookups = std::vector<tutti::kernels::TableLookups>()](const mini::Batch& batch) mutable {
        const auto& embeddings = model_->embeddings();
        embeddings.prefetch_rows(make_input(embeddings, batch, {}, lookups));
      };
    }
    FeedOptions train = feed;
    train.prepared = options.data_generation == "bench" ? prepared_batches : 0;
    const std::size_t test_batch =
        options.test_mini_batch_size > 0 ? options.test_mini_batch_size : options.mini_batch_size;
    const ReaderPart part = reader_part(options, model_->embeddings(), comm.rank(), comm.size());
    feeds_source_.emplace(*source_);
    train_.emplace(*feeds_source_, mini::Split::train, options.mini_batch_size, part, train);
    test_.emplace(*feeds_source_, mini::Split::test, test_batch, part, feed);
  });
  agreed([&] {
    make_engine();
    trainer_.emplace(comm, options, *engine_, *train_);
  });
  if (!options.load.empty()) {
    start_ = load_checkpoint(comm, *model_, options, *source_);
    agreed([&] { engine_->take_parameters(); });
  }
}

void Application::print(const std::string& text) const {
  if (comm_.rank() == 0) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void Application::test(std::uint64_t step) {
  log([&] { log_.begin_test(epochs_at(step)); });
  tests_.push_back({step, evaluate_model(comm_, *engine_, *test_)});
  log([&] { log_.end_test(epochs_at(step), tests_.back()); });
  print(test_text(tests_.back()));
}

TrainerEvents Application::events(tutti::command_line::Progress& progress) {
  TrainerEvents events;
  events.on_step = [&](const Position& at) {
    progress.update(at.step);
    checkpoints_.progress();
  };
  events.on_loss = [&](const LossEntry& entry) {
    progress.clear();
    print(loss_text(entry, trainer_->batches_per_epoch()));
  };
  events.on_save = [&](const Position& at) {
    if (!options_.checkpoint_dir.empty()) {
      engine_->store_parameters();
      checkpoints_.save(*model_, *source_, at);
    }
  };
  events.on_test = [&](const Position& at) {
    if (!has_test_data()) {
      return false;
    }
    progress.clear();
    test(at.step);
    const bool ends = options_.auc_threshold > 0 && reached();
    if (ends) {
      print("The AUC of --mlperf-auc-threshold is reached; training ends\n");
    }
    return ends;
  };
  return events;
}

void Application::write(const std::function<mini::Results()>& results) {
  agreed([&] {
    if (!options_.json_file.empty() && comm_.rank() == 0) {
      mini::write_results(options_.json_file, results());
    }
  });
}

void Application::infer() {
  BatchFeed& feed = options_.data_generation == "dataset" ? *test_ : *train_;
  const std::uint64_t batches =
      options_.num_batches > 0 ? std::min(options_.num_batches, feed.batches()) : feed.batches();
  tutti::command_line::Progress progress("predicting", batches, comm_.rank() == 0);
  const InferenceResults results = run_inference(comm_, *engine_, feed, batches, has_test_data(),
                                                 [&](std::uint64_t done) { progress.update(done); });
  progress.finish();
  print(inference_text(results));
  write([&] { return json_results(configuration_, comm_.size(), results); });
}

void Application::bench() {
  print(step_head());
  const auto times =
      bench_steps(comm_, options_, *engine_, reader_part(options_, model_->embeddings(), comm_.rank(), comm_.size()),
                  [&](const StepTime& time) { print(step_line(time)); });
  write([&] { return json_results(configuration_, comm_.size(), times); });
}

void Application::run() {
  if (!options_.bench_batches.empty()) {
    return bench();
  }
  options_.inference_only ? infer() : train();
}

void Application::train() {
  tutti::command_line::Progress progress("training", trainer_->total_steps(), comm_.rank() == 0);
  log([&] { log_.begin(options_, train_->samples(), test_->samples()); });
  const TrainingResults results = trainer_->run(start_, events(progress));
  checkpoints_.finish();
  progress.finish();
  if (has_test_data() && options_.test_at_end) {
    if (tests_.empty() || tests_.back().iteration != start_.step + results.steps) {
      test(start_.step + results.steps);
    }
  }
  log([&] { log_.end(options_.auc_threshold == 0 || (!tests_.empty() && reached()) ? "success" : "aborted"); });
  if (const auto* device = dynamic_cast<const DeviceEngine*>(engine_.get())) {
    print(device_text(results, device->graph_steps()));
  } else {
    print(phase_text(results));
  }
  if (comm_.size() > 1) {
    print(model_->load_meter().text(comm_, model_->embeddings().plan()));
  }
  write([&] { return json_results(configuration_, comm_.size(), results, tests_); });
}

}  // namespace

void run_application(const tutti::Communicator& comm, const Options& options) {
  Options named = options;
  name_data(comm, named);
  Application application(comm, named);
  application.run();
}

}  // namespace dlrm
