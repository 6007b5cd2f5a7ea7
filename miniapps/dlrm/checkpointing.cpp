// SPDX-License-Identifier: BSD-3-Clause
#include "checkpointing.hpp"

#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include <tutti/checkpoint.hpp>
#include "common/agree.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

nlohmann::json describe(const Model& model, const Options& options) {
  const auto& shape = model.shape();
  nlohmann::json description{{"rows", shape.rows},
                             {"dim", shape.dim},
                             {"bottom", shape.bottom},
                             {"top", shape.top},
                             {"optimizer", options.optimizer},
                             {"mini_batch_size", options.mini_batch_size}};
  if (shape.interaction.kind == InteractionKind::dcn) {
    description["dcn"] = {shape.interaction.dcn_layers, shape.interaction.dcn_rank};
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

void check_same_model(const nlohmann::json& saved, const nlohmann::json& wanted, const std::filesystem::path& folder) {
  for (const auto& [key, value] : wanted.items()) {
    if (saved.value(key, nlohmann::json()) != value) {
      throw tutti::Error(tutti::ErrorCode::io, "--load=" + folder.string() +
                                                   ": the checkpoint is of another model: " + key + " is " +
                                                   saved.value(key, nlohmann::json()).dump() + ", not " + value.dump());
    }
  }
}

}  // namespace

void save_checkpoint(const tutti::Communicator& comm, const std::filesystem::path& folder, Model& model,
                     const Options& options, const Position& position) {
  mini::run_agreed(comm, [&] {
    tutti::CheckpointPart part(folder, comm.rank());
    const std::string text =
        nlohmann::json{{"model", describe(model, options)}, {"position", describe(position)}}.dump();
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
    }
  });
}

Position load_checkpoint(const tutti::Communicator& comm, const std::filesystem::path& folder, Model& model,
                         const Options& options) {
  Position position;
  mini::run_agreed(comm, [&] {
    const tutti::CheckpointReader reader(folder);
    const auto run = nlohmann::json::parse(reader.text("run"));
    check_same_model(run.at("model"), describe(model, options), folder);
    position = position_of(run.at("position"));
    model.embeddings().load(reader);
    for_each_dense(model, [&](const std::string& name, std::span<float> values) { reader.read(name, values); });
  });
  return position;
}

}  // namespace dlrm
