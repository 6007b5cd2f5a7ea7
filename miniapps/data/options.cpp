// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <tutti/version.hpp>

#include "common/command_line/options.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/parquet_options.hpp"

namespace tutti::data {

namespace {

using namespace command_line;

constexpr std::uint64_t most_rows = (std::uint64_t{1} << 31U) - 1;
constexpr std::uint64_t most_samples = std::uint64_t{1} << 40U;
constexpr const char* about =
    "Makes data for tutti-dlrm: converts Criteo text, generates data, and looks at them. Alone, or faster on several "
    "ranks: the files are the same.\nRun it as: mpiexec -n 8 tutti-data convert /data/criteo -o /data/terabyte";

std::string about_text() { return fmt::format("{}\n{}", about, parquet_text()); }

void add_output(CLI::App& app, std::string& output, Format& format) {
  add_text(app, "-o,--output", output, "PREFIX",
           "the data set: PREFIX_train.bin ... and PREFIX.json, or the folder PREFIX")
      ->required();
  add_choice<Format>(app, "--format", format,
                     {{"binary", Format::binary}, {"npy", Format::npy}, {"parquet", Format::parquet}},
                     "binary: 40 int32 a sample, as DLRM's reference has them; npy: day_N_dense.npy, day_N_labels.npy, "
                     "day_N_sparse_multi_hot.npz, as MLPerf has them; parquet: day_N_PART.parquet");
}

CLI::App* add_convert(CLI::App& app, ConvertOptions& o) {
  CLI::App* command =
      app.add_subcommand("convert", "Converts Criteo text, arrays or Parquet; goes on where a run was killed");
  command
      ->add_option(
          "input", o.inputs,
          "files of text, folders of day_0, day_1, ..., a folder of day_0_dense.npy, ..., or files and folders "
          "of Parquet")
      ->required()
      ->type_name("PATH");
  add_output(*command, o.output, o.format);
  add_number(*command, "--days", o.days, {0, 10'000},
             "days into which the samples are cut: the last one is for tests, 1: none is (0: 7 for one file, else a "
             "day a file)");
  add_choice<DenseRule>(*command, "--dense", o.dense_rule,
                        {{"auto", DenseRule::automatic}, {"log1p", DenseRule::log1p}, {"log3", DenseRule::log3}},
                        "dense features of text, and integers of Parquet: log(max(x, 0) + 1), or MLPerf's log(x + 3) "
                        "(auto: log1p); those of arrays are kept, and reals of Parquet with auto");
  add_choice<DictionaryRule::Kind>(
      *command, "--numbering", o.rule.kind,
      {{"auto", DictionaryRule::Kind::automatic},
       {"first", DictionaryRule::Kind::first},
       {"frequency", DictionaryRule::Kind::frequency}},
      "rows of a table in the order in which their ids appear first, or by falling frequency (auto: first; indices of "
      "arrays and integers of Parquet are rows already, unless rare ones share a row)");
  add_number(*command, "--frequency-threshold", o.rule.threshold, {0, std::uint64_t{1} << 31U},
             "ids that occur less often share row 0 (0: every id has a row)");
  add_number(*command, "--hash-rows", o.rule.hash_rows, {0, most_rows},
             "rows of every table, in which ids are placed by their hash, without a dictionary (0: off)");
  add_bytes(*command, "--part-bytes", o.part_bytes, {64, std::uint64_t{1} << 30U},
            "input that a rank parses at a time; what is lost where a run is killed");
  command_line::add_parquet_names(*command, o.names);
  return command;
}

CLI::App* add_generate(CLI::App& app, GenerateOptions& o) {
  CLI::App* command =
      app.add_subcommand("generate", "Makes data whose rows follow Zipf's law and whose labels follow them");
  add_output(*command, o.output, o.format);
  add_number(*command, "--samples", o.samples, {1, most_samples}, "samples");
  add_number(*command, "--days", o.days, {1, 10'000}, "days of equal length; the last one is for tests, 1: none is");
  add_number(*command, "--dense-features", o.dense_features, {1, 4096}, "dense features of a sample");
  add_numbers(*command, "--rows", o.rows, '-', {1, most_rows}, "rows of each table; one number: of all");
  add_numbers(*command, "--zipf", o.zipf, '-', {0, 4}, "exponent of each table; one number: of all; 0: uniform");
  add_numbers(*command, "--hotness", o.hotness, '-', {1, 4096},
              "indices of a sample in each table; one number: in all");
  add_flag(*command, "--ragged", o.ragged, "samples have 0 to --hotness indices");
  add_number(*command, "--part-samples", o.part_samples, {1, std::uint64_t{1} << 24U},
             "samples that a rank makes at a time");
  add_number(*command, "--seed", o.seed, {}, "of all that is random");
  return command;
}

CLI::App* add_view(CLI::App& app, const char* name, const char* help, ViewOptions& o) {
  CLI::App* command = app.add_subcommand(name, help);
  add_text(*command, "data", o.data, "PREFIX", "the data set: its prefix, folder or sidecar")->required();
  return command;
}

void require(bool is_right, const std::string& message) {
  if (!is_right) throw std::invalid_argument(message);
}

/// Files are named by the last part of the prefix.
void check_output(const std::string& output) {
  require(std::filesystem::path(output).has_filename(),
          "--output '" + output + "' has no name; omit the slash at its end");
}

void check_format(Format format) {
  require(format != Format::parquet || miniapps::has_parquet(),
          fmt::format("--format parquet: this build has no Parquet; {}", miniapps::parquet_remedy));
}

void resolve(ConvertOptions& o) {
  check_output(o.output);
  check_format(o.format);
  require(o.rule.hash_rows != 1, "--hash-rows 1 leaves no row beside that of rare ids; name 2 or more");
  require(o.rule.hash_rows == 0 || o.rule.kind == DictionaryRule::Kind::automatic,
          "--numbering: rows by --hash-rows have no order; omit one of them");
  o.rule.kind = o.rule.hash_rows > 0 ? DictionaryRule::Kind::hash : o.rule.kind;
}

void check_binary(const GenerateOptions& o, std::size_t tables) {
  require(tables == 1 || tables == miniapps::criteo_tables,
          fmt::format("--format binary has 26 tables, not {}; use --format npy", tables));
  require(o.dense_features == miniapps::criteo_dense, "--format binary has 13 dense features; use --format npy");
  require(!o.ragged && std::ranges::all_of(o.hotness, [](std::uint64_t h) { return h == 1; }),
          "--format binary has one index in each table; use --format npy for --hotness and --ragged");
}

void validate(const GenerateOptions& o) {
  check_output(o.output);
  check_format(o.format);
  const std::size_t tables = std::max({o.rows.size(), o.zipf.size(), o.hotness.size()});
  for (const std::size_t size : {o.rows.size(), o.zipf.size(), o.hotness.size()}) {
    require(size == 1 || size == tables,
            fmt::format("--rows, --zipf and --hotness name {} and {} tables; name as many, or one number for all", size,
                        tables));
  }
  require(o.days <= o.samples, fmt::format("--days {} is above --samples {}; lower it", o.days, o.samples));
  if (o.format == Format::binary) check_binary(o, tables);
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  Request request;
  CLI::App app{about_text()};
  app.name("tutti-data");
  app.require_subcommand(0, 1);
  const CLI::App* convert = add_convert(app, request.convert);
  const CLI::App* generate = add_generate(app, request.generate);
  const CLI::App* info = add_view(app, "info", "Prints samples, rules, tables and files", request.view);
  const CLI::App* check = add_view(app, "check", "Reads all files: checksums, shapes, labels, indices", request.view);
  CLI::App* sample = add_view(app, "sample", "Prints samples: label, dense features, indices", request.view);
  add_number(*sample, "--first", request.view.first, {0, most_samples}, "number of the first sample");
  add_number(*sample, "--count", request.view.count, {1, 1'000'000}, "samples");
  add_helps(app, "tutti-data " TUTTI_VERSION_STRING);
  static_cast<Outcome&>(request) = parse(app, arguments_of(argc, argv), [&] {
    if (convert->parsed()) resolve(request.convert);
    if (generate->parsed()) validate(request.generate);
    require(!app.get_subcommands().empty(), "name a command: convert, generate, info, check or sample (see --help)");
  });
  request.task = request.stop         ? Task::stop
                 : convert->parsed()  ? Task::convert
                 : generate->parsed() ? Task::generate
                 : info->parsed()     ? Task::info
                 : check->parsed()    ? Task::check
                                      : Task::sample;
  return request;
}

}  // namespace tutti::data
