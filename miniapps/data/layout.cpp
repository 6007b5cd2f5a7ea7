// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/data/day_files.hpp"
#include "output.hpp"
#include "parquet_output.hpp"

namespace tutti::data {

namespace {

using miniapps::npy_header;

RowRun fixed_run(RowKind kind, std::uint64_t samples, std::uint64_t row_bytes, std::string header) {
  return {kind, 0, row_bytes, samples * row_bytes, std::move(header)};
}

OutputFile data_file(const std::string& name, const std::string& content, std::uint64_t first, std::uint64_t end,
                     std::vector<RowRun> runs) {
  return {{name, content, end - first, 0, 0}, first, std::move(runs)};
}

/// The bags of a ragged table: how many lookups the samples of a day have.
std::vector<RowRun> ragged_runs(std::size_t table, std::uint64_t samples, std::uint64_t lookups) {
  RowRun indices{RowKind::indices, table, 0, 4 * lookups, npy_header("<i4", {lookups}), fmt::format("{}.npy", table)};
  RowRun offsets = fixed_run(RowKind::offsets, samples, 8, npy_header("<i8", {samples + 1}) + std::string(8, '\0'));
  offsets.table = table;
  offsets.member = fmt::format("{}_offsets.npy", table);
  return {indices, offsets};
}

RowRun bags_run(std::size_t table, std::uint64_t samples, std::uint64_t hotness) {
  RowRun run = fixed_run(RowKind::indices, samples, 4 * hotness, npy_header("<i4", {samples, hotness}));
  run.table = table;
  run.member = fmt::format("{}.npy", table);
  return run;
}

std::uint64_t lookups_of_day(const Catalog& catalog, std::size_t day, std::size_t table) {
  std::uint64_t lookups = 0;
  for (std::size_t p = 0; p < catalog.parts.size(); ++p) {
    lookups += catalog.files[p] == day ? catalog.parts[p].lookups[table] : 0;
  }
  return lookups;
}

std::vector<RowRun> sparse_runs(const OutputShape& shape, const Catalog& catalog, std::size_t day,
                                std::uint64_t samples) {
  std::vector<RowRun> runs;
  for (std::size_t t = 0; t < shape.hotness.size(); ++t) {
    if (!shape.ragged) {
      runs.push_back(bags_run(t, samples, shape.hotness[t]));
      continue;
    }
    std::ranges::move(ragged_runs(t, samples, lookups_of_day(catalog, day, t)), std::back_inserter(runs));
  }
  return runs;
}

void add_day(OutputLayout& layout, const OutputShape& shape, const Catalog& catalog, std::size_t day,
             std::uint64_t first, std::uint64_t end) {
  const std::uint64_t n = end - first;
  const std::uint64_t features = shape.dense_features;
  const auto dense = fixed_run(RowKind::dense, n, 4 * features, npy_header("<f4", {n, features}));
  const auto labels = fixed_run(RowKind::labels, n, 4, npy_header("<i4", {n, 1}));
  layout.files.push_back(data_file(fmt::format("day_{}_dense.npy", day), "dense", first, end, {dense}));
  layout.files.push_back(data_file(fmt::format("day_{}_labels.npy", day), "labels", first, end, {labels}));
  layout.files.push_back(data_file(fmt::format("day_{}_sparse_multi_hot.npz", day), "sparse", first, end,
                                   sparse_runs(shape, catalog, day, n)));
}

void add_binary(OutputLayout& layout, const std::string& stem, const std::vector<std::uint64_t>& ends) {
  constexpr const char* suffixes[] = {"_train.bin", "_test.bin", "_val.bin"};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] > first) {
      layout.files.push_back(data_file(stem + suffixes[i], "records", first, ends[i],
                                       {fixed_run(RowKind::records, ends[i] - first, 160, {})}));
    }
    first = ends[i];
  }
}

/// Where each run of the file begins: behind its headers.
void place_runs(OutputFile& file) {
  std::uint64_t at = 0;
  for (RowRun& run : file.runs) {
    at += run.member.empty() ? 0 : miniapps::zip_local_header({run.member, 0, 0, 0}).size();
    run.offset = at + run.header.size();
    at = run.offset + run.bytes;
  }
}

}  // namespace

OutputLayout lay_out(const std::filesystem::path& prefix, const OutputShape& shape, const Catalog& catalog,
                     const std::vector<std::uint64_t>& day_ends) {
  OutputLayout layout;
  layout.day_ends = day_ends;
  if (shape.format == Format::binary) {
    const auto [train, test] = miniapps::split_days(day_ends);
    layout.folder = prefix.parent_path();
    layout.sidecar = prefix.string() + ".json";
    add_binary(layout, prefix.filename().string(), {train, train + test, day_ends.back()});
    std::ranges::for_each(layout.files, place_runs);
    return layout;
  }
  layout.folder = prefix;
  layout.sidecar = prefix / "data.json";
  if (shape.format == Format::parquet) {
    layout.files = parquet_files(catalog, day_ends);
  } else {
    std::uint64_t first = 0;
    for (std::size_t day = 0; day < day_ends.size(); ++day) {
      add_day(layout, shape, catalog, day, first, day_ends[day]);
      first = day_ends[day];
    }
  }
  std::ranges::for_each(layout.files, place_runs);
  return layout;
}

}  // namespace tutti::data
