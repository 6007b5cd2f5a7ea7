// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>

#include "agree.hpp"
#include "data/day_files.hpp"
#include "data/row_scan.hpp"
#include "day_arrays.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

/// Raises `rows` to what the bags of samples [begin, end) need.
void scan(const NpyArray& array, const std::string& name, std::uint64_t begin, std::uint64_t end, std::uint64_t& rows) {
  constexpr std::size_t block = 4096;
  const std::uint64_t hotness = array.shape[1];
  std::array<std::int32_t, block> ids{};
  for (std::uint64_t at = begin * hotness; at < end * hotness; at += block) {
    const auto some = std::span(ids).first(std::min<std::uint64_t>(block, end * hotness - at));
    std::memcpy(some.data(), array.data.data() + at * sizeof(std::int32_t), some.size_bytes());
    const auto [least, most] = std::ranges::minmax_element(some);
    if (*least < 0) {
      const auto sample = (at + static_cast<std::uint64_t>(least - some.begin())) / hotness;
      throw Error(ErrorCode::io, name + ": sample " + std::to_string(sample) + " has the negative index " +
                                     std::to_string(*least) + "; number the rows from 0");
    }
    rows = std::max(rows, static_cast<std::uint64_t>(*most) + 1);
  }
}

std::vector<std::uint64_t> scan_share(const Communicator& comm, const std::vector<fs::path>& files,
                                      std::size_t tables) {
  std::vector<std::uint64_t> rows(tables, 1);
  for (const fs::path& path : files) {
    NpzFile zip(path);
    for (std::size_t t = 0; t < tables; ++t) {
      const std::string member = std::to_string(t);
      const NpyArray array = zip.array(member + ".npy", "<i4", 2);
      const auto share = sample_slice(array.rows(), comm.rank(), comm.size());
      scan(array, path.string() + ", member " + member, share.begin, share.end, rows[t]);
    }
  }
  return rows;
}

}  // namespace

std::vector<std::uint64_t> array_day_rows(const Communicator& comm, const fs::path& folder, const fs::path& cache_dir) {
  Sidecar sidecar;
  run_agreed(comm, [&] { sidecar = describe_array_days(folder); });
  RowScan scan{folder, {}, sidecar.tables.size(), {}, {}};
  for (const SidecarFile& file : sidecar.files) {
    if (file.content == "sparse") {
      scan.files.push_back(folder / file.name);
    }
  }
  scan.scan_share = [&] { return scan_share(comm, scan.files, scan.tables); };
  return scanned_rows(comm, scan, cache_dir);
}

}  // namespace tutti::miniapps
