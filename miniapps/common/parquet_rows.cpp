// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <tutti/error.hpp>

#include "agree.hpp"
#include "data/row_scan.hpp"
#include "parquet_source.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

/// Raises `rows` to what the values of a column of a row group need.
void scan(const ParquetSet& set, const ParquetGroup& group, std::size_t table, ParquetRows& reader,
          std::uint64_t& rows) {
  constexpr std::uint64_t block = 4096;
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 40U;
  ParquetValues values;
  for (std::uint64_t done = 0; done < group.rows; done += block) {
    values.clear();
    reader.read(table, std::min(block, group.rows - done), values);
    if (const std::size_t bad = first_above(values.integers, most_rows); bad < values.integers.size()) {
      fail_parquet_value(set.files[group.file].path, group.first + done + row_of(values, bad), set.tables()[table],
                         "the index " + std::to_string(values.integers[bad]) +
                             ", which names no row (tutti-data convert numbers ids),");
    }
    for (const std::int64_t index : values.integers) {
      rows = std::max(rows, static_cast<std::uint64_t>(index) + 1);
    }
  }
}

/// The rows that this rank's row groups need.
std::vector<std::uint64_t> scan_share(const Communicator& comm, const ParquetSet& set) {
  std::vector<std::uint64_t> rows(set.tables().size(), 1);
  const auto all = set.names();
  const auto names = std::span(all).subspan(1 + set.dense_features);
  for (auto g = static_cast<std::size_t>(comm.rank()); g < set.groups.size();
       g += static_cast<std::size_t>(comm.size())) {
    const ParquetGroup& group = set.groups[g];
    const auto file = open_parquet(set.files[group.file].path);
    const auto reader = file->rows(group.group, names);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      scan(set, group, t, *reader, rows[t]);
    }
  }
  return rows;
}

/// Empty where there is no sidecar.
std::vector<std::uint64_t> sidecar_rows(const ParquetSet& set) {
  std::vector<std::uint64_t> rows;
  if (set.sidecar) {
    std::ranges::transform(set.sidecar->tables, std::back_inserter(rows), &SidecarTable::rows);
  }
  return rows;
}

}  // namespace

std::vector<std::uint64_t> parquet_rows(const Communicator& comm, const fs::path& path, const ParquetNames& names,
                                        const fs::path& cache_dir) {
  ParquetSet set;
  run_agreed(comm, [&] { set = describe_numbered_parquet(path, names); });
  RowScan scan{path, {}, set.tables().size(), [&] { return sidecar_rows(set); }, [&] { return scan_share(comm, set); }};
  std::ranges::transform(set.files, std::back_inserter(scan.files), &ParquetSetFile::path);
  std::ranges::transform(set.tables(), std::back_inserter(scan.columns), &ParquetColumn::name);
  return scanned_rows(comm, scan, cache_dir);
}

}  // namespace tutti::miniapps
