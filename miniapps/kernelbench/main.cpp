// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <fstream>
#include <iostream>
#include <tutti/version.hpp>

#include "benchmarks.hpp"
#include "common/command_line/options.hpp"
#include "common/command_line/parse.hpp"
#include "common/command_line/start.hpp"
#include "device.hpp"

namespace {

using namespace tutti::command_line;
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
  GemmSettings gemm;
  MlpSettings mlp;
  int launch_rounds = 30;
  std::string json_file;
  bool device = false;
};

constexpr std::size_t most_vectors = 1U << 31U;
constexpr std::size_t most_rows = 1U << 20U;
constexpr int most_rounds = 100000;

void add_embedding(CLI::App& app, EmbeddingSettings& s) {
  CLI::App& embedding =
      *app.add_subcommand("embedding", "Embedding bags, compared with a loop that copies the same random rows");
  add_number(embedding, "--tables", s.tables, {1, 10000}, "Tables in one launch");
  add_number(embedding, "--rows", s.rows, {1, most_vectors}, "Rows per table");
  add_number(embedding, "--dim", s.dim, {1, 65536}, "Values per row");
  add_number(embedding, "--bag", s.bag, {1, 1U << 20U}, "Indices per bag");
  add_number(embedding, "--batch", s.batch, {1, most_vectors}, "Bags per table and process");
  add_number(embedding, "--zipf", s.zipf, {0, 10},
             "Exponent of Zipf's law, by which some rows occur more often (0: all alike)");
  add_choice(embedding, "--type", s.type, {"float32", "bfloat16", "float16", "uint8"}, "Type of the rows");
  add_choice(embedding, "--optimizer", s.optimizer, {"sgd", "adagrad", "row_wise_adagrad", "adam"},
             "Update fused with the backward");
  add_flag(embedding, "--stochastic-rounding", s.stochastic, "Round rows that are not float32 at random");
  add_number(embedding, "--rounds", s.rounds, {1, most_rounds}, "Measured rounds");
}

void add_combine(CLI::App& app, CombineSettings& s) {
  CLI::App& combine = *app.add_subcommand("combine", "Elementwise combination, compared with memcpy");
  add_text(combine, "--type", s.type, "NAME", "Datatype, for example float32");
  add_text(combine, "--op", s.op, "NAME", "Operation, for example sum");
  add_number(combine, "--inputs", s.inputs, {2, 64}, "Number of inputs");
  add_bytes(combine, "--bytes", s.bytes, {1, most_bytes}, "Bytes of each input");
  add_number(combine, "--rounds", s.rounds, {1, most_rounds}, "Measured rounds");
}

void add_interaction(CLI::App& app, InteractionSettings& s) {
  CLI::App& interaction = *app.add_subcommand("interaction", "Dot interaction, forward and backward");
  add_number(interaction, "--features", s.features, {1, 10000}, "Vectors per sample");
  add_number(interaction, "--dim", s.dim, {1, 65536}, "Values per vector");
  add_number(interaction, "--batch", s.batch, {1, most_vectors}, "Samples");
  add_number(interaction, "--rounds", s.rounds, {1, most_rounds}, "Measured rounds");
}

/// Of products of matrices; their operands are rounded to this type, and sums are in float32.
void add_products(CLI::App& app, std::string& type, LimitSettings& limits, int& rounds) {
  add_choice(app, "--type", type, {"float32", "bfloat16"}, "Type of the operands (bfloat16: by oneDNN)");
  add_number(app, "--peak-rows", limits.peak_rows, {1, 32768},
             "Rows of the square matrices whose product shows the limit of operations");
  add_bytes(app, "--copy-bytes", limits.copy_bytes, {1, most_bytes}, "Bytes of the copy that shows the limit of bytes");
  add_number(app, "--rounds", rounds, {1, most_rounds}, "Measured rounds");
}

void add_gemm(CLI::App& app, GemmSettings& s) {
  CLI::App& gemm = *app.add_subcommand(
      "gemm", "A product of an M x K and a K x N matrix, compared with the limits of operations and bytes");
  add_number(gemm, "--m", s.m, {1, most_rows}, "Rows of the product");
  add_number(gemm, "--n", s.n, {1, most_rows}, "Columns of the product");
  add_number(gemm, "--k", s.k, {1, most_rows}, "Products in each element");
  add_products(gemm, s.type, s.limits, s.rounds);
}

void add_mlp(CLI::App& app, MlpSettings& s) {
  CLI::App& mlp = *app.add_subcommand(
      "mlp",
      "A stack of dense layers with relu, forward and backward, compared with the limits of operations and bytes");
  add_number(mlp, "--layers", s.layers, {1, 10000}, "Dense layers");
  add_number(mlp, "--input", s.input, {1, most_rows}, "Values of a sample");
  add_number(mlp, "--hidden", s.hidden, {1, most_rows}, "Values between two layers");
  add_number(mlp, "--output", s.output, {1, most_rows}, "Values of a sample's result");
  add_number(mlp, "--batch", s.batch, {1, most_rows}, "Samples");
  add_products(mlp, s.type, s.limits, s.rounds);
}

void add_launches(CLI::App& app, int& rounds) {
  CLI::App& launches =
      *app.add_subcommand("launches", "With --device: the host's time for launches of kernels without work");
  add_number(launches, "--rounds", rounds, {1, most_rounds}, "Measured rounds");
}

void add_options(CLI::App& app, Settings& settings) {
  app.name("tutti-kernelbench");
  app.require_subcommand(1);
  app.fallthrough();
  add_text(app, "--json-file", settings.json_file, "FILE", "Write the result as JSON to this file");
  add_flag(app, "--device", settings.device,
           "Measure on the GPU, as a share of the bandwidth of a copy; print `skipped` if there is no GPU");
  add_embedding(app, settings.embedding);
  add_combine(app, settings.combine);
  add_interaction(app, settings.interaction);
  add_gemm(app, settings.gemm);
  add_mlp(app, settings.mlp);
  add_launches(app, settings.launch_rounds);
  add_helps(app, "tutti-kernelbench " TUTTI_VERSION_STRING);
}

nlohmann::json run_on_device(const CLI::App& app, const Settings& settings, int rank) {
  for (const char* name : {"gemm", "mlp"})
    if (app.got_subcommand(name))
      throw std::runtime_error(std::string(name) + " measures the host's products: leave out --device");
  if (const auto reason = reason_without_device()) return {{"skipped", *reason}};
  if (app.got_subcommand("embedding")) return run_device_embedding(settings.embedding, rank);
  if (app.got_subcommand("combine")) return run_device_combine(settings.combine, rank);
  if (app.got_subcommand("launches")) return run_device_launches(settings.launch_rounds, rank);
  return run_device_interaction(settings.interaction, rank);
}

nlohmann::json run_chosen(const CLI::App& app, const Settings& settings, int rank) {
  if (settings.device) return run_on_device(app, settings, rank);
  if (app.got_subcommand("embedding")) return run_embedding(settings.embedding, rank);
  if (app.got_subcommand("combine")) return run_combine(settings.combine, rank);
  if (app.got_subcommand("gemm")) return run_gemm(settings.gemm, rank);
  if (app.got_subcommand("mlp")) return run_mlp(settings.mlp, rank);
  if (app.got_subcommand("launches")) throw std::runtime_error("launches are the device's: add --device");
  return run_interaction(settings.interaction, rank);
}

int run(const CLI::App& app, const Settings& settings) {
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int rank = world_rank();
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

int run_in_job(const CLI::App& app, const Settings& settings) {
  warn_of_launcher("tutti-kernelbench");
  try {
    return run(app, settings);
  } catch (const std::exception& error) {
    std::cerr << "tutti-kernelbench: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Measures Tutti's kernels; start it with mpiexec -n N for N processes at once, each with its own data");
  add_options(app, settings);
  const Outcome outcome = parse(app, arguments_of(argc, argv), [] {});
  if (asks_for_document(argc, argv)) return show(outcome, 0);
  MPI_Init(&argc, &argv);
  const int status = outcome.stop ? show(outcome, world_rank()) : run_in_job(app, settings);
  MPI_Finalize();
  return status;
}
