// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <tutti/communicator.hpp>
#include <vector>

namespace tutti::miniapps {

/// The rows that each table needs for the ids of a binary data set, PREFIX_train.bin and so on: those of its sidecar,
/// PREFIX.json, where there is one; else of an earlier scan of the same files, which is kept in the folder of the cache
/// (CriteoTextOptions::cache_dir); else of a scan that the ranks divide. Collective over `comm`; blocking. Throws
/// AgreedError, naming the file, where one cannot be read or holds no records of Criteo, and where the sidecar is of
/// other files.
[[nodiscard]] std::vector<std::uint64_t> criteo_binary_rows(const Communicator& comm,
                                                            const std::filesystem::path& prefix,
                                                            const std::filesystem::path& cache_dir = {});

}  // namespace tutti::miniapps
