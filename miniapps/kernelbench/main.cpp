// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "benchmarks.hpp"
#include "device.hpp"

namespace {

using namespace tutti::kernelbench;

void print(const nlohmann::json& result) {
  for (const auto& [name, value] : result.items()) {
    std::cout << "  " << name << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
  }
}

struct Settings {
  EmbeddingSettings embedding;
  CombineSettings combine;
  InteractionSettings interaction;
  std::string json_file;
  bool device = false;
};

void add_options(CLI::App& app, Settings& settings) {
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--json-file", settings.json_file, "Write the result as JSON to this file");
  app.add_flag("--device", settings.device,
               "Measure on the GPU, as a share of the bandwidth of a copy; print `skipped` if there is no GPU");
  auto* embedding =
      app.add_subcommand("embedding", "Embedding bags, compared with a loop that copies the same random rows");
  embedding->add_option("--tables", settings.embedding.tables, "Tables in one launch")->capture_default_str();
  embedding->add_option("--rows", settings.embedding.rows, "Rows per table")->capture_default_str();
  embedding->add_option("--dim", settings.embedding.dim, "Values per row")->capture_default_str();
  embedding->add_option("--bag", settings.embedding.bag, "Indices per bag")->capture_default_str();
  embedding->add_option("--batch", settings.embedding.batch, "Bags per table and process")->capture_default_str();
  embedding->add_option("--type", settings.embedding.type, "Type of the rows")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16", "uint8"}))
      ->capture_default_str();
  embedding->add_option("--optimizer", settings.embedding.optimizer, "Update fused with the backward")
      ->check(CLI::IsMember({"sgd", "adagrad", "row_wise_adagrad", "adam"}))
      ->capture_default_str();
  embedding->add_flag("--stochastic-rounding", settings.embedding.stochastic,
                      "Round rows that are not float32 at random");
  embedding->add_option("--rounds", settings.embedding.rounds, "Measured rounds")->capture_default_str();
  auto* combine = app.add_subcommand("combine", "Elementwise combination, compared with memcpy");
  combine->add_option("--type", settings.combine.type, "Datatype, for example float32")->capture_default_str();
  combine->add_option("--op", settings.combine.op, "Operation, for example sum")->capture_default_str();
  combine->add_option("--inputs", settings.combine.inputs, "Number of inputs")->capture_default_str();
  combine->add_option("--bytes", settings.combine.bytes, "Bytes of each input")->capture_default_str();
  combine->add_option("--rounds", settings.combine.rounds, "Measured rounds")->capture_default_str();
  auto* interaction = app.add_subcommand("interaction", "Dot interaction, forward and backward");
  interaction->add_option("--features", settings.interaction.features, "Vectors per sample")->capture_default_str();
  interaction->add_option("--dim", settings.interaction.dim, "Values a vector")->capture_default_str();
  interaction->add_option("--batch", settings.interaction.batch, "Samples")->capture_default_str();
  interaction->add_option("--rounds", settings.interaction.rounds, "Measured rounds")->capture_default_str();
}

nlohmann::json run_on_device(const CLI::App& app, const Settings& settings, int rank) {
  if (const auto reason = reason_without_device()) return {{"skipped", *reason}};
  if (app.got_subcommand("embedding")) return run_device_embedding(settings.embedding, rank);
  if (app.got_subcommand("combine")) return run_device_combine(settings.combine, rank);
  return run_device_interaction(settings.interaction, rank);
}

nlohmann::json run_chosen(const CLI::App& app, const Settings& settings, int rank) {
  if (settings.device) return run_on_device(app, settings, rank);
  if (app.got_subcommand("embedding")) return run_embedding(settings.embedding, rank);
  if (app.got_subcommand("combine")) return run_combine(settings.combine, rank);
  return run_interaction(settings.interaction, rank);
}

int run(int argc, char** argv) {
  int rank = 0;
  int processes = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  Settings settings;
  CLI::App app("Measures Tutti's kernels; start it with mpiexec -n N for N processes at once, each with its own data");
  add_options(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return rank == 0 ? app.exit(error) : error.get_exit_code();
  }
  nlohmann::json result = run_chosen(app, settings, rank);
  result["processes"] = processes;
  if (rank != 0) return 0;
  std::cout << app.get_subcommands().front()->get_name() << " (medians of the slowest process, per process)\n";
  print(result);
  if (settings.json_file.empty()) return 0;
  std::ofstream file(settings.json_file);
  file << result.dump(2) << '\n';
  if (file.flush()) return 0;
  std::cerr << "tutti-kernelbench: cannot write " << settings.json_file << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "tutti-kernelbench: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
