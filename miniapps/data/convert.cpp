// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>
#include <tutti/error.hpp>

#include "array_input.hpp"
#include "build.hpp"
#include "commands.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/day_files.hpp"
#include "parquet_input.hpp"
#include "text_input.hpp"

namespace tutti::data {

namespace {

/// A piece of a plain file, or a whole compressed file.
struct Unit {
  std::size_t file;
  std::uint64_t piece;
  bool is_last;
};

std::vector<Unit> units_of(const std::vector<TextFile>& files, std::uint64_t part_bytes) {
  std::vector<Unit> units;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::uint64_t pieces = files[f].is_packed ? 1 : (files[f].bytes + part_bytes - 1) / part_bytes;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      units.push_back({f, piece, piece + 1 == pieces});
    }
  }
  return units;
}

/// All that the parts depend on.
std::string describe(const std::vector<TextFile>& files, std::uint64_t part_bytes) {
  std::string text = fmt::format("text 1 {}\n", part_bytes);
  for (const TextFile& file : files) {
    text += fmt::format("{} {} {}\n", file.path.string(), file.bytes, file.changed);
  }
  return text;
}

/// Makes the parts that are not there yet.
class Parser {
 public:
  Parser(const Workspace& workspace, std::uint64_t part_bytes, int rank)
      : workspace_(workspace), part_bytes_(part_bytes), rank_(rank), writer_(miniapps::criteo_tables) {}

  void run(const TextFile& file, const Unit& unit) {
    make_on_rank(static_cast<std::size_t>(rank_), [&] { parse(file, unit); });
  }

 private:
  void parse(const TextFile& file, const Unit& unit) {
    if (file.is_packed) {
      run_packed(file, unit);
    } else if (!is_there(unit.file, unit.piece)) {
      Samples samples = parse_range(file, unit.piece * part_bytes_, (unit.piece + 1) * part_bytes_);
      writer_.write(workspace_.part(unit.file, unit.piece), samples, unit.is_last);
    }
  }

  [[nodiscard]] bool is_there(std::uint64_t file, std::uint64_t piece) const {
    return std::filesystem::exists(workspace_.part(file, piece));
  }
  [[nodiscard]] bool is_whole(std::uint64_t file) const {
    for (std::uint64_t piece = 0; is_there(file, piece); ++piece) {
      if (PartFile(workspace_.part(file, piece)).facts().is_last) {
        return true;
      }
    }
    return false;
  }
  void run_packed(const TextFile& file, const Unit& unit) {
    if (is_whole(unit.file)) {
      return;
    }
    parse_packed(
        file, part_bytes_, [&](std::uint64_t piece) { return !is_there(unit.file, piece); },
        [&](std::uint64_t piece, Samples& samples, bool is_last) {
          writer_.write(workspace_.part(unit.file, piece), samples, is_last);
        });
  }

  const Workspace& workspace_;
  std::uint64_t part_bytes_;
  int rank_;
  PartWriter writer_;
};

void parse_all(const Communicator& comm, const Workspace& workspace, const std::vector<TextFile>& files,
               std::uint64_t part_bytes) {
  const auto units = units_of(files, part_bytes);
  command_line::Progress progress("text", units.size(), comm.rank() == 0);
  Parser parser(workspace, part_bytes, comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  miniapps::run_agreed(comm, [&] {
    for (std::size_t i = static_cast<std::size_t>(comm.rank()); i < units.size(); i += ranks) {
      parser.run(files[units[i].file], units[i]);
      progress.update(i + 1);
    }
  });
}

/// What is converted: files of text, a folder of arrays, or files of Parquet.
struct Inputs {
  std::vector<TextFile> text;
  std::optional<ArrayInput> arrays;
  std::optional<ParquetInput> parquet;

  /// Days of arrays and Parquet, which their parts keep apart; files of text.
  [[nodiscard]] std::size_t files() const {
    return parquet ? parquet->day_ends.size() : arrays ? arrays->days() : text.size();
  }
  [[nodiscard]] std::uint64_t bytes() const {
    const auto sum = [](std::uint64_t all, const TextFile& file) { return all + file.bytes; };
    return parquet  ? parquet->bytes()
           : arrays ? arrays->bytes()
                    : std::accumulate(text.begin(), text.end(), std::uint64_t{0}, sum);
  }
  [[nodiscard]] std::string describe(std::uint64_t part_bytes) const {
    return parquet  ? parquet->describe(part_bytes)
           : arrays ? arrays->describe(part_bytes)
                    : data::describe(text, part_bytes);
  }
  /// Whether indices are rows, unless the options say how they are numbered.
  [[nodiscard]] bool has_rows() const { return arrays || (parquet && !parquet->set.has_texts()); }
  [[nodiscard]] std::size_t tables() const {
    return parquet ? parquet->set.tables().size() : arrays ? arrays->sidecar.tables.size() : miniapps::criteo_tables;
  }
};

DictionaryRule rule_of(DictionaryRule rule, bool has_rows) {
  if (rule.kind == DictionaryRule::Kind::automatic) {
    rule.kind = has_rows && rule.threshold == 0 ? DictionaryRule::Kind::none : DictionaryRule::Kind::first;
  }
  return rule;
}

/// Numbers that are kept have no binary form, and neither have bags or other numbers of columns than Criteo's.
void check_binary(const Inputs& inputs, const std::string& name) {
  const bool fits = !inputs.arrays && inputs.parquet->dense_rule != DenseRule::given &&
                    !inputs.parquet->set.has_lists() && inputs.parquet->set.dense_features == miniapps::criteo_dense &&
                    inputs.tables() == miniapps::criteo_tables;
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                name +
                    ": has no binary form, which is 13 integers and one index in each of 26 tables; use --format npy " +
                    (inputs.arrays ? "without --dense" : "or parquet"));
  }
}

Inputs find_inputs(const ConvertOptions& options) {
  Inputs inputs{{}, {}, find_parquet(options.inputs, options.names, options.dense_rule, options.days)};
  if (!inputs.parquet) {
    inputs.arrays = find_arrays(options.inputs);
  } else {
    const auto kind = rule_of(options.rule, inputs.has_rows()).kind;
    inputs.parquet->has_rows = kind == DictionaryRule::Kind::none;
  }
  if (!inputs.parquet && !inputs.arrays) {
    inputs.text = find_text_files(options.inputs);
  } else if (options.format == Format::binary) {
    check_binary(inputs, options.inputs.front());
  }
  if (inputs.arrays && options.dense_rule != DenseRule::automatic) {
    throw Error(ErrorCode::invalid_argument,
                inputs.arrays->folder.string() + ": has arrays, whose dense features are kept; omit --dense");
  }
  return inputs;
}

OutputShape shape_of(const ConvertOptions& options, const Inputs& inputs) {
  if (inputs.arrays) {
    return {options.format, DenseRule::given, inputs.arrays->sidecar.dense_features, inputs.arrays->hotness(), false};
  }
  if (inputs.parquet) {  // bag_lengths() gives those of its bags
    return {options.format, inputs.parquet->dense_rule, inputs.parquet->set.dense_features,
            std::vector<std::uint64_t>(inputs.tables(), 1), false};
  }
  const auto dense = options.dense_rule == DenseRule::automatic ? DenseRule::log1p : options.dense_rule;
  return {options.format, dense, miniapps::criteo_dense, std::vector<std::uint64_t>(miniapps::criteo_tables, 1), false};
}

BuildOptions build_options(const ConvertOptions& options, const Inputs& inputs) {
  BuildOptions build;
  build.prefix = options.output;
  build.shape = shape_of(options, inputs);
  build.rule = rule_of(options.rule, inputs.has_rows());
  build.days = inputs.parquet        ? 0
               : options.days > 0    ? options.days
               : inputs.files() == 1 ? miniapps::days_of_one_file
                                     : 0;
  return build;
}

void report(const BuildSummary& summary, const std::string& output, std::uint64_t bytes, double seconds) {
  fmt::print(
      "{}: {} training, {} test and {} validation samples; {} ids, {:.1f} bytes each; {:.1f} MB in {}\n", output,
      summary.sidecar.train, summary.sidecar.test, summary.sidecar.validation, summary.ids,
      static_cast<double>(summary.dictionary_bytes) / static_cast<double>(std::max<std::uint64_t>(summary.ids, 1)),
      static_cast<double>(bytes) * 1e-6, command_line::seconds_text(seconds));
}

}  // namespace

void convert(const Communicator& comm, const ConvertOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Inputs inputs;
  std::string description;
  miniapps::run_agreed(comm, [&] {
    inputs = find_inputs(options);
    description = inputs.describe(options.part_bytes);
  });
  const Workspace workspace(comm, options.output, description);
  if (inputs.parquet) {
    part_parquet(comm, workspace, *inputs.parquet, options.part_bytes);
  } else if (inputs.arrays) {
    part_arrays(comm, workspace, *inputs.arrays, options.part_bytes);
  } else {
    parse_all(comm, workspace, inputs.text, options.part_bytes);
  }
  BuildOptions build = build_options(options, inputs);
  const Catalog catalog = read_catalog(comm, workspace, inputs.files(), build.shape.hotness.size());
  if (inputs.parquet) {
    build.shape.hotness = bag_lengths(comm, *inputs.parquet, catalog, build.shape.ragged);
  }
  const BuildSummary summary = build_data(comm, build, catalog);
  if (comm.rank() == 0) {
    workspace.remove();
    report(summary, options.output, inputs.bytes(),
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
}

}  // namespace tutti::data
