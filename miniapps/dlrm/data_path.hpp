// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <tutti/communicator.hpp>
#include <vector>

#include "options.hpp"

namespace dlrm {

/// The formats of --data.
enum class DataKind : std::uint8_t {
  text,     ///< a file of Criteo text, or a folder of days of it
  binary,   ///< the prefix of files of Criteo's records
  days,     ///< a folder of day files of arrays, with or without a sidecar
  parquet,  ///< a file of Parquet, or a folder of them
  adult     ///< a folder with the files of Adult
};

/// What is at a path, by its content. Local. Throws tutti::Error (io) that names the path, what it holds and what is
/// read instead.
[[nodiscard]] DataKind data_kind(const std::filesystem::path& path);

/// The prefix of the binary files that `path` is the prefix, one, or the sidecar of.
[[nodiscard]] std::string binary_prefix(const std::string& path);

/// Puts the path of --data, by its content as rank 0 sees it, where --raw-data-file, --processed-data-file and
/// --data-set are, and validates the options again. Collective over `comm`; blocking. Throws AgreedError.
void name_data(const tutti::Communicator& comm, Options& options);

/// The rows of each table that the files of the options need, as a sidecar, --arch-embedding-size or a scan of them
/// says; none where the data source knows itself. Collective over `comm`; blocking. Throws AgreedError.
[[nodiscard]] std::vector<std::uint64_t> rows_of_files(const tutti::Communicator& comm, const Options& options);

}  // namespace dlrm
