// SPDX-License-Identifier: BSD-3-Clause
#include "row_scan.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

#include "common/agree.hpp"
#include "common/cache_folder.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

using Rows = std::vector<std::uint64_t>;

nlohmann::json identity_of(const RowScan& scan) {
  nlohmann::json all;
  std::ranges::transform(scan.files, std::back_inserter(all), file_identity);
  std::ranges::copy(scan.columns, std::back_inserter(all));
  return all;
}

/// Empty where there is no scan of these files.
Rows load_rows(const fs::path& path, const nlohmann::json& identity, std::size_t tables) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || json.value("identity", nlohmann::json()) != identity) {
    return {};
  }
  Rows rows = json.at("rows");
  return rows.size() == tables ? rows : Rows();
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

std::vector<std::uint64_t> scanned_rows(const Communicator& comm, const RowScan& scan, const fs::path& cache_dir) {
  Rows rows(scan.tables, 0);
  nlohmann::json identity;
  fs::path kept;
  run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      Rows known = scan.known ? scan.known() : Rows();
      if (known.empty()) {
        identity = identity_of(scan);
        kept = cache_stem(cache_dir, scan.data, identity) + ".rows.json";
        known = load_rows(kept, identity, scan.tables);
      }
      std::copy(known.begin(), known.end(), rows.begin());
    }
  });
  bcast(comm, rows, 0);
  if (rows.front() > 0) {
    return rows;
  }
  run_agreed(comm, [&] { rows = scan.scan_share(); });
  allreduce(comm, rows, max);
  if (comm.rank() == 0) {
    keep_rows(kept, identity, rows);
  }
  return rows;
}

}  // namespace tutti::miniapps
