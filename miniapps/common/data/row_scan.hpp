// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

namespace tutti::miniapps {

/// How the rows are found that the tables of a data set need.
struct RowScan {
  std::filesystem::path data;                ///< the name of the data set
  std::vector<std::filesystem::path> files;  ///< that are scanned
  std::size_t tables = 0;
  /// The rows of each table where they are known without a scan, else none; asked on rank 0.
  std::function<std::vector<std::uint64_t>()> known;
  /// The rows that this rank's share of the files needs.
  std::function<std::vector<std::uint64_t>()> scan_share;
  std::vector<std::string> columns{};  ///< of the files, where options name those that are scanned
};

/// The rows of each table: known ones; else those of an earlier scan of the same files, which is kept in the folder of
/// the cache (CriteoTextOptions::cache_dir); else of a scan that the ranks divide. Collective over `comm`; blocking.
/// Throws AgreedError for an error of any rank.
[[nodiscard]] std::vector<std::uint64_t> scanned_rows(const Communicator& comm, const RowScan& scan,
                                                      const std::filesystem::path& cache_dir);

}  // namespace tutti::miniapps
