// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include "checkpointing.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "trainer.hpp"

namespace sgd {

namespace {

template <typename Float>
ModeResults run_in(const tutti::Communicator& comm, const Options& options, const Source& source,
                   const std::function<void(const std::string&)>& print) {
  if (options.reproducible && options.blocks < static_cast<std::size_t>(comm.size())) {
    throw tutti::miniapps::AgreedError(tutti::ErrorCode::invalid_argument,
                                       "--blocks=" + std::to_string(options.blocks) + " is fewer than the " +
                                           std::to_string(comm.size()) + " ranks; raise it, or omit --reproducible");
  }
  Model<Float> model(model_widths(options, source), source.sparse());
  model.initialize(options.seed);
  const auto synchronizer = make_synchronizer<Float>(comm, options, model.tensors());
  Position start;
  if (!options.load.empty()) {
    start = load_checkpoint(comm, options, source.samples(Split::train), model, *synchronizer);
  }
  Trainer<Float> trainer(comm, options, source, model, *synchronizer);
  tutti::command_line::Progress progress(mode_name(options), trainer.total_steps(), comm.rank() == 0);
  TrainerEvents events;
  events.on_step = [&](const Position& at) { progress.update(at.step); };
  events.on_loss = [&](const LossEntry& entry) {
    progress.clear();
    print(loss_text(entry, trainer.batches_per_epoch()));
  };
  events.on_save = [&](const Position& at) {
    if (!options.checkpoint_dir.empty() &&
        !save_checkpoint(comm, options, source.samples(Split::train), model, *synchronizer, at)) {
      print("Nothing saved at step " + std::to_string(at.step) + ": the loss or a parameter is not a number\n");
    }
  };
  ModeResults results;
  results.mode = mode_name(options);
  results.training = trainer.run(start, events);
  progress.finish();
  if (options.test_at_end && source.samples(Split::test) > 0) {
    results.test = evaluate_model(comm, options, source, Split::test, model);
  }
  return results;
}

}  // namespace

ModeResults run_mode(const tutti::Communicator& comm, const Options& options, const Source& source,
                     const std::function<void(const std::string&)>& print) {
  return options.precision == "fp64" ? run_in<double>(comm, options, source, print)
                                     : run_in<float>(comm, options, source, print);
}

}  // namespace sgd
