// SPDX-License-Identifier: BSD-3-Clause
#include "checkpointing.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tutti/checkpoint.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/checkpoint_folders.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

nlohmann::json describe(const Options& o, std::uint64_t samples, const std::vector<std::size_t>& widths) {
  nlohmann::json settings{{"training samples", samples},
                          {"data", o.data},
                          {"seed", o.seed},
                          {"model", o.model},
                          {"widths", widths},
                          {"precision", o.precision},
                          {"optimizer", o.optimizer},
                          {"mode", o.mode},
                          {"hook", o.hook},
                          {"batch size", o.batch_size}};
  if (o.reproducible) {
    settings["blocks"] = o.blocks;
  }
  return settings;
}

nlohmann::json describe(const Position& p) {
  return {{"step", p.step}, {"epoch", p.epoch}, {"batch", p.batch}, {"loss samples", p.loss_samples}};
}

template <typename Float>
bool is_finite(const Model<Float>& model) {
  const auto& tensors = model.tensors();
  return std::all_of(tensors.begin(), tensors.end(), [](const auto& tensor) {
    return std::all_of(tensor.value.begin(), tensor.value.end(), [](Float x) { return std::isfinite(x); });
  });
}

std::string of_rank(const std::string& name, int rank) { return name + " of rank " + std::to_string(rank); }

/// Empty where there is none.
std::vector<std::byte> read_section(const tutti::CheckpointReader& reader, const std::string& name) {
  if (!reader.has(name)) {
    return {};
  }
  std::vector<std::byte> content(reader.bytes(name));
  reader.read(name, std::span<std::byte>(content));
  return content;
}

void add_section(tutti::CheckpointPart& part, const std::string& name, std::span<const std::byte> content) {
  if (!content.empty()) {
    part.add(name, content);
  }
}

/// What loading finds before anything collective is done with it.
struct Loaded {
  Position position;
  std::vector<std::byte> shared;
  std::vector<std::byte> local;
};

template <typename Float>
Loaded read_checkpoint(const tutti::Communicator& comm, const Options& options, std::uint64_t samples,
                       const Model<Float>& model, const Synchronizer<Float>& synchronizer) {
  const tutti::CheckpointReader reader(mini::newest_checkpoint(options.load));
  const auto run = nlohmann::json::parse(reader.text("run"));
  mini::check_same(run.at("settings"), describe(options, samples, model.widths()), options.load, "run");
  const int ranks = run.at("ranks");
  const bool same = ranks == comm.size();
  if (!same && synchronizer.has_local_state()) {
    throw tutti::Error(tutti::ErrorCode::io, "--load=" + options.load +
                                                 ": ranks have state of their own in this mode; "
                                                 "go on with " +
                                                 std::to_string(ranks) + " ranks, not " + std::to_string(comm.size()));
  }
  const int from = same ? comm.rank() : 0;
  const auto& p = run.at("position");
  Loaded loaded;
  loaded.position = {p.at("step"), p.at("epoch"), p.at("batch"), 0, p.at("loss samples")};
  std::vector<double> sums(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    reader.read(of_rank("loss", r), std::span(sums).subspan(static_cast<std::size_t>(r), 1));
    loaded.position.loss_sum += same ? 0 : comm.rank() == 0 ? sums[static_cast<std::size_t>(r)] : 0;
  }
  loaded.position.loss_sum = same ? sums[static_cast<std::size_t>(comm.rank())] : loaded.position.loss_sum;
  for (const auto& tensor : model.tensors()) {
    const int owner = synchronizer.replicas_differ() ? from : 0;
    reader.read(of_rank(tensor.name, owner), tensor.value);
  }
  loaded.shared = read_section(reader, "shared state");
  loaded.local = read_section(reader, of_rank("state", from));
  return loaded;
}

}  // namespace

template <typename Float>
bool save_checkpoint(const tutti::Communicator& comm, const Options& options, std::uint64_t samples,
                     const Model<Float>& model, const Synchronizer<Float>& synchronizer, const Position& position) {
  std::int32_t good = std::isfinite(position.loss_sum) && is_finite(model) ? 1 : 0;
  tutti::allreduce(comm, &good, 1, tutti::min);
  if (good == 0) {
    mini::agree(comm, options.stop_on_nan ? not_finite_text("the loss or a parameter", position) : std::string());
    return false;
  }
  const auto folder = mini::checkpoint_folder(options.checkpoint_dir, position.step, options.keep_checkpoints);
  const auto shared = synchronizer.save_shared();
  const auto local = synchronizer.save_local();
  const std::string text = nlohmann::json{
      {"settings", describe(options, samples, model.widths())},
      {"ranks", comm.size()},
      {"position",
       describe(position)}}.dump();
  const auto add = [&](tutti::CheckpointPart& part) {
    if (comm.rank() == 0) {
      part.add("run", std::span<const char>(text));
      add_section(part, "shared state", shared);
    }
    if (comm.rank() == 0 || synchronizer.replicas_differ()) {
      for (const auto& tensor : model.tensors()) {
        part.add(of_rank(tensor.name, comm.rank()), std::span<const Float>(tensor.value));
      }
    }
    part.add(of_rank("loss", comm.rank()), std::span(&position.loss_sum, 1));
    add_section(part, of_rank("state", comm.rank()), local);
  };
  mini::run_agreed(comm, [&] {
    tutti::save_checkpoint(comm, folder, add);
    if (comm.rank() == 0) {
      mini::remove_old_checkpoints(options.checkpoint_dir, folder, options.keep_checkpoints);
    }
  });
  return true;
}

template <typename Float>
Position load_checkpoint(const tutti::Communicator& comm, const Options& options, std::uint64_t samples,
                         const Model<Float>& model, Synchronizer<Float>& synchronizer) {
  Loaded loaded;
  mini::run_agreed(comm, [&] { loaded = read_checkpoint(comm, options, samples, model, synchronizer); });
  synchronizer.load_shared(loaded.shared);
  synchronizer.load_local(loaded.local);
  return loaded.position;
}

template bool save_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<float>&,
                              const Synchronizer<float>&, const Position&);
template bool save_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<double>&,
                              const Synchronizer<double>&, const Position&);
template Position load_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<float>&,
                                  Synchronizer<float>&);
template Position load_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<double>&,
                                  Synchronizer<double>&);

}  // namespace sgd
