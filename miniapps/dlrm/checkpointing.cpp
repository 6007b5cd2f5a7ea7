// SPDX-License-Identifier: BSD-3-Clause
#include "checkpointing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tutti/checkpoint.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/checkpoint_folders.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

nlohmann::json describe(const Model& model, const Options& options) {
  const auto& shape = model.shape();
  nlohmann::json description{
      {"dim", shape.dim}, {"bottom", shape.bottom}, {"top", shape.top}, {"optimizer", options.optimizer}};
  if (shape.interaction.kind == InteractionKind::dcn) {
    description["dcn"] = {shape.interaction.dcn_layers, shape.interaction.dcn_rank};
  }
  return description;
}

/// What a position in a run depends on, and what else must not change within one.
nlohmann::json describe(const Options& o, const mini::DataSource& source) {
  nlohmann::json description{{"mini_batch_size", o.mini_batch_size},
                             {"numpy_rand_seed", o.seed},
                             {"loss_function", o.loss_function},
                             {"loss_weights", o.loss_weights},
                             {"loss_threshold", o.loss_threshold},
                             {"data_generation", o.data_generation},
                             {"training samples", source.samples(mini::Split::train)},
                             {"indices per lookup", o.indices_per_feature}};
  if (o.reproducible) {
    description["blocks"] = o.blocks;
  }
  if (o.data_generation == "dataset") {
    description["data_set"] = o.data_set;
    description["data_randomize"] = data_order(o);
    description["data_sub_sample_rate"] = o.data_sub_sample_rate;
  }
  return description;
}

nlohmann::json describe(const Position& p) {
  return {{"step", p.step},
          {"epoch", p.epoch},
          {"batch", p.batch},
          {"loss_sum", p.loss_sum},
          {"loss_samples", p.loss_samples}};
}

Position position_of(const nlohmann::json& j) {
  return {j.at("step"), j.at("epoch"), j.at("batch"), j.at("loss_sum"), j.at("loss_samples")};
}

/// Names and memory of what is dense, which all ranks have alike.
template <typename Visit>
void for_each_dense(Model& model, const Visit& visit) {
  const auto visit_with_state = [&](const std::string& name, std::span<float> values, std::span<float> state) {
    visit(name, values);
    if (!state.empty()) {
      visit(name + " state", state);
    }
  };
  visit_with_state("bottom", model.bottom().parameters(), model.bottom_state());
  if (!model.interaction().parameters().empty()) {
    visit_with_state("interaction", model.interaction().parameters(), model.interaction_state());
  }
  visit_with_state("top", model.top().parameters(), model.top_state());
}

/// Tables may only grow, and only where the new rows are of new categories.
void check_rows(const std::vector<std::size_t>& saved, const std::vector<std::size_t>& rows, bool may_grow,
                const Options& options) {
  bool fits = saved.size() == rows.size();
  for (std::size_t t = 0; fits && t < rows.size(); ++t) {
    fits = may_grow ? rows[t] >= saved[t] : rows[t] == saved[t];
  }
  if (!fits) {
    nlohmann::json before;
    nlohmann::json now;
    before["rows"] = saved;
    now["rows"] = rows;
    mini::check_same(before, now, options.load, "model");
  }
}

std::string section_of_categories(std::size_t table) { return "categories " + std::to_string(table); }

}  // namespace

mini::CategoryValues saved_categories(const Options& options) {
  mini::CategoryValues values;
  if (options.load.empty()) {
    return values;
  }
  const tutti::CheckpointReader reader(mini::newest_checkpoint(options.load));
  for (std::size_t t = 0; reader.has(section_of_categories(t)); ++t) {
    values.emplace_back(reader.bytes(section_of_categories(t)) / sizeof(std::uint32_t));
    reader.read(section_of_categories(t), std::span(values.back()));
  }
  const std::int64_t range = nlohmann::json::parse(reader.text("run")).value("max_ind_range", options.max_ind_range);
  if (!values.empty() && range != options.max_ind_range) {
    throw tutti::Error(tutti::ErrorCode::io, "--load=" + options.load + ": its categories were numbered with " +
                                                 "--max-ind-range=" + std::to_string(range) + "; pass the same");
  }
  return values;
}

namespace {

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

/// Whether the dense parameters are all numbers. Gradients of a diverged loss reach them all. Tables are checked when
/// they are written.
bool is_finite(Model& model) {
  bool finite = true;
  for_each_dense(model, [&](const std::string&, std::span<float> values) { finite = finite && are_finite(values); });
  return finite;
}

std::filesystem::path folder_of(const Position& position, const Options& options) {
  return mini::checkpoint_folder(options.checkpoint_dir, position.step, options.keep_checkpoints);
}

}  // namespace

void Checkpoints::save(Model& model, const mini::DataSource& source, const Position& position) {
  finish();
  position_ = position;
  begin_ = Clock::now();
  std::int32_t good = std::isfinite(position.loss_sum) && is_finite(model) ? 1 : 0;
  tutti::allreduce(*comm_, &good, 1, tutti::min);
  if (good == 0) return refuse();
  const bool is_root = comm_->rank() == 0;
  const mini::CategoryValues categories = is_root ? source.categories() : mini::CategoryValues();
  const std::string text = nlohmann::json{
      {"model", describe(model, *options_)},
      {"rows", model.shape().rows},
      {"max_ind_range", options_->max_ind_range},
      {"run", describe(*options_, source)},
      {"position",
       describe(position)}}.dump();
  const auto add = [&](tutti::CheckpointPart& part) {
    for (std::size_t t = 0; t < categories.size(); ++t) {
      part.add(section_of_categories(t), std::span(categories[t]));
    }
    model.embeddings().add_to(part);
    if (!is_root) return;
    for_each_dense(model, [&](const std::string& name, std::span<float> values) {
      part.add(name, std::span<const float>(values));
    });
    part.add("run", std::span<const char>(text));
  };
  end_with([&] {
    const auto folder = folder_of(position, *options_);
    const auto kind = options_->incremental_save ? tutti::SaveKind::incremental : tutti::SaveKind::full;
    if (options_->async_save) {
      under_way_ = tutti::CheckpointSave(*comm_, folder, add, kind);
    } else {
      tutti::save_checkpoint(*comm_, folder, add, kind);
    }
    return !options_->async_save;
  });
}

void Checkpoints::progress() {
  if (position_) end_with([&] { return under_way_.test(); });
}

void Checkpoints::finish() {
  if (!position_) return;
  end_with([&] {
    under_way_.wait();
    return true;
  });
}

template <typename End>
void Checkpoints::end_with(const End& end) {
  try {
    if (!end()) return;
  } catch (const tutti::Error& error) {
    if (error.code() == tutti::ErrorCode::invalid_argument) return refuse();
    if (error.code() != tutti::ErrorCode::io) throw;
    throw mini::AgreedError(error.code(), error.what());
  }
  const Position at = *position_;
  position_.reset();
  mini::run_agreed(*comm_, [&] {
    if (comm_->rank() == 0) {
      const auto folder = folder_of(at, *options_);
      mini::remove_old_checkpoints(options_->checkpoint_dir, folder, options_->keep_checkpoints);
      report(at, folder);
    }
  });
}

void Checkpoints::report(const Position& at, const std::filesystem::path& folder) const {
  const tutti::CheckpointReader reader(folder);
  const auto& saves = reader.generations();
  std::printf("Saved step %llu: %.3f MB in %.3f s%s\n", static_cast<unsigned long long>(at.step),
              1e-6 * static_cast<double>(saves.back().bytes),
              std::chrono::duration<double>(Clock::now() - begin_).count(),
              saves.size() > 1 ? ", of what has changed since the last save" : "");
  std::fflush(stdout);
}

void Checkpoints::refuse() {
  const Position at = *position_;
  position_.reset();
  if (options_->stop_on_nan) {
    throw mini::AgreedError(tutti::ErrorCode::invalid_argument, not_finite_text("the loss or a parameter", at));
  }
  if (comm_->rank() != 0) return;
  std::error_code ignored;
  if (options_->keep_checkpoints > 1) std::filesystem::remove(folder_of(at, *options_), ignored);  // if it is empty
  std::printf("Nothing saved at step %llu: the loss or a parameter is not a number\n",
              static_cast<unsigned long long>(at.step));
  std::fflush(stdout);
}

Position load_checkpoint(const tutti::Communicator& comm, Model& model, const Options& options,
                         const mini::DataSource& source) {
  Position position;
  mini::run_agreed(comm, [&] {
    const tutti::CheckpointReader reader(mini::newest_checkpoint(options.load));
    const auto run = nlohmann::json::parse(reader.text("run"));
    mini::check_same(run.at("model"), describe(model, options), options.load, "model");
    check_rows(run.at("rows"), model.shape().rows, reader.has(section_of_categories(0)), options);
    if (!options.inference_only && !options.fine_tune) {
      mini::check_same(run.at("run"), describe(options, source), options.load, "run",
                       "; pass the same, or --fine-tune to begin a new run with its model");
      position = position_of(run.at("position"));
    }
    model.embeddings().load(reader);
    for_each_dense(model, [&](const std::string& name, std::span<float> values) { reader.read(name, values); });
  });
  return position;
}

}  // namespace dlrm
