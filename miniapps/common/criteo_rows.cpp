// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/embedding_collection.hpp>

#include "agree.hpp"
#include "cache_folder.hpp"
#include "criteo_binary.hpp"
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

nlohmann::json identity_of(const fs::path& prefix) {
  nlohmann::json all;
  for (const fs::path& path : criteo_binary_files(prefix)) {
    all.push_back(file_identity(path));
  }
  return all;
}

/// Empty where there is no scan of these files.
Rows load_rows(const fs::path& path, const nlohmann::json& identity) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || json.value("identity", nlohmann::json()) != identity) {
    return {};
  }
  Rows rows = json.at("rows");
  return rows.size() == criteo_tables ? rows : Rows();
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

/// Where it cannot be kept the next run scans again.
void keep_rows(const fs::path& path, const nlohmann::json& identity, const Rows& rows) {
  const fs::path temporary = path.string() + ".tmp" + std::to_string(::getpid());
  std::ofstream file(temporary);
  file << nlohmann::json{{"identity", identity}, {"rows", rows}}.dump(-1, ' ', true,
                                                                      nlohmann::json::error_handler_t::replace)
       << '\n';
  file.close();
  std::error_code error;
  file ? fs::rename(temporary, path, error) : void(fs::remove(temporary, error));
}

}  // namespace

std::vector<std::uint64_t> criteo_binary_rows(const Communicator& comm, const fs::path& prefix,
                                              const fs::path& cache_dir) {
  Rows rows(criteo_tables, 0);
  nlohmann::json identity;
  fs::path kept;
  run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      Rows known = sidecar_rows(prefix);
      if (known.empty()) {
        identity = identity_of(prefix);
        kept = cache_stem(cache_dir, prefix, identity) + ".rows.json";
        known = load_rows(kept, identity);
      }
      std::copy(known.begin(), known.end(), rows.begin());
    }
  });
  bcast(comm, rows, 0);
  if (rows.front() > 0) {
    return rows;
  }
  run_agreed(comm, [&] { rows = scan_share(comm, prefix); });
  allreduce(comm, rows, max);
  if (comm.rank() == 0) {
    keep_rows(kept, identity, rows);
  }
  return rows;
}

}  // namespace tutti::miniapps
