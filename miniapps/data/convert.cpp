// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <tutti/error.hpp>

#include "build.hpp"
#include "commands.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/day_files.hpp"
#include "text_input.hpp"

namespace tutti::data {

namespace {

/// A piece of a plain file, or a whole gzip file.
struct Unit {
  std::size_t file;
  std::uint64_t piece;
  bool is_last;
};

std::vector<Unit> units_of(const std::vector<TextFile>& files, std::uint64_t part_bytes) {
  std::vector<Unit> units;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::uint64_t pieces = files[f].is_gzip ? 1 : (files[f].bytes + part_bytes - 1) / part_bytes;
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
    try {
      parse(file, unit);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{} (on rank {})", error.what(), rank_));
    }
  }

 private:
  void parse(const TextFile& file, const Unit& unit) {
    if (file.is_gzip) {
      run_gzip(file, unit);
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
  void run_gzip(const TextFile& file, const Unit& unit) {
    if (is_whole(unit.file)) {
      return;
    }
    parse_gzip(
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

BuildOptions build_options(const ConvertOptions& options, std::size_t files) {
  BuildOptions build;
  build.prefix = options.output;
  build.shape = {options.format, options.dense_rule, miniapps::criteo_dense,
                 std::vector<std::uint64_t>(miniapps::criteo_tables, 1), false};
  build.rule = options.rule;
  build.days = options.days > 0 ? options.days : files == 1 ? miniapps::days_of_one_file : 0;
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
  std::vector<TextFile> files;
  miniapps::run_agreed(comm, [&] { files = find_text_files(options.inputs); });
  const Workspace workspace(comm, options.output, describe(files, options.part_bytes));
  parse_all(comm, workspace, files, options.part_bytes);
  const Catalog catalog = read_catalog(comm, workspace, files.size(), miniapps::criteo_tables);
  const BuildSummary summary = build_data(comm, build_options(options, files.size()), catalog);
  if (comm.rank() == 0) {
    workspace.remove();
    const std::uint64_t bytes =
        std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const TextFile& file) { return sum + file.bytes; });
    report(summary, options.output, bytes,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
}

}  // namespace tutti::data
