// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>

#include "criteo_binary.hpp"
#include "data/row_scan.hpp"
#include "data/sidecar.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

using Rows = std::vector<std::uint64_t>;

constexpr std::size_t scan_block = 4096;  // records

/// Raises `rows` to what the records [begin, end) of a file need.
void scan(const CriteoRecordFile& file, std::uint64_t begin, std::uint64_t end, Rows& rows) {
  std::vector<CriteoRecord> block;
  std::array<std::int32_t, criteo_tables> most{};
  for (std::uint64_t first = begin; first < end; first += scan_block) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(scan_block, end - first)));
    file.read(first, block);
    for (const CriteoRecord& record : block) {
      for (std::size_t t = 0; t < criteo_tables; ++t) {
        most[t] = std::max(most[t], record.categories[t]);
      }
    }
  }
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    rows[t] = std::max(rows[t], static_cast<std::uint64_t>(most[t]) + 1);
  }
}

/// The rows that this rank's share of each file needs.
Rows scan_share(const Communicator& comm, const fs::path& prefix) {
  Rows rows(criteo_tables, 1);
  for (const fs::path& path : criteo_binary_files(prefix)) {
    if (!path.empty()) {
      const CriteoRecordFile file(path);
      const auto share = sample_slice(file.size(), comm.rank(), comm.size());
      scan(file, share.begin, share.end, rows);
    }
  }
  return rows;
}

/// Empty where there is no sidecar.
Rows sidecar_rows(const fs::path& prefix) {
  const fs::path path = sidecar_path(prefix);
  if (!fs::exists(path)) {
    return {};
  }
  const Sidecar sidecar = read_sidecar(path);
  if (sidecar.format != criteo_binary_format || sidecar.tables.size() != criteo_tables) {
    throw Error(ErrorCode::io, path.string() +
                                   ": is no sidecar of Criteo's binary files of 26 tables; remove it, or "
                                   "name the data that it is of");
  }
  check_sidecar_files(path, sidecar);
  Rows rows;
  std::ranges::transform(sidecar.tables, std::back_inserter(rows), &SidecarTable::rows);
  return rows;
}

}  // namespace

std::vector<std::uint64_t> criteo_binary_rows(const Communicator& comm, const fs::path& prefix,
                                              const fs::path& cache_dir) {
  const auto files = criteo_binary_files(prefix);
  return scanned_rows(comm,
                      {prefix,
                       {files.begin(), files.end()},
                       criteo_tables,
                       [&] { return sidecar_rows(prefix); },
                       [&] { return scan_share(comm, prefix); }},
                      cache_dir);
}

}  // namespace tutti::miniapps
