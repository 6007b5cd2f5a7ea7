// SPDX-License-Identifier: BSD-3-Clause
#include "checkpointing.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tutti/checkpoint.hpp>
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

/// The rows that this rank has, some at a time.
bool has_finite_rows(const tutti::EmbeddingCollection& tables) {
  constexpr std::int64_t values_at_once = std::int64_t{1} << 18U;
  std::vector<float> values;
  for (std::size_t i = 0; i < tables.shards().size(); ++i) {
    const tutti::TableShard& shard = tables.shards()[i];
    const auto columns = static_cast<std::int64_t>(shard.columns());
    const std::int64_t rows_at_once = std::max<std::int64_t>(1, values_at_once / std::max<std::int64_t>(1, columns));
    const tutti::TableRows rows = shard.table_rows();
    for (std::int64_t first = 0; first < rows.size(); first += rows_at_once) {
      const std::int64_t count = std::min(rows.size() - first, rows_at_once);
      values.resize(static_cast<std::size_t>(count * columns));
      tables.read_rows(i, rows.row(first), rows.row(first + count - 1) + 1, values);
      if (!are_finite(values)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool is_finite(Model& model) {
  bool finite = true;
  for_each_dense(model, [&](const std::string&, std::span<float> values) { finite = finite && are_finite(values); });
  return finite && has_finite_rows(model.embeddings());
}

void save_checkpoint(const tutti::Communicator& comm, Model& model, const Options& options,
                     const mini::DataSource& source, const Position& position) {
  const auto folder = mini::checkpoint_folder(options.checkpoint_dir, position.step, options.keep_checkpoints);
  mini::run_agreed(comm, [&] {
    tutti::CheckpointPart part(folder, comm.rank());
    const mini::CategoryValues categories = comm.rank() == 0 ? source.categories() : mini::CategoryValues();
    const std::string text = nlohmann::json{
        {"model", describe(model, options)},
        {"rows", model.shape().rows},
        {"max_ind_range", options.max_ind_range},
        {"run", describe(options, source)},
        {"position",
         describe(position)}}.dump();
    for (std::size_t t = 0; t < categories.size(); ++t) {
      part.add(section_of_categories(t), std::span(categories[t]));
    }
    model.embeddings().add_to(part);
    if (comm.rank() == 0) {
      for_each_dense(model, [&](const std::string& name, std::span<float> values) {
        part.add(name, std::span<const float>(values));
      });
      part.add("run", std::span<const char>(text));
    }
    part.write();
  });
  mini::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      tutti::commit_checkpoint(folder, comm.size());
      mini::remove_old_checkpoints(options.checkpoint_dir, folder, options.keep_checkpoints);
    }
  });
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
