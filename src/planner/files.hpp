// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tutti/topology.hpp>

#include "planner/format.hpp"

namespace tutti::detail::tuning {

/// Longer files are refused unread.
inline constexpr std::size_t longest_file = std::size_t{8} << 20U;

/// $XDG_CACHE_HOME/tutti/tuning.json, else ~/.cache/tutti/tuning.json; empty where neither variable names a folder.
[[nodiscard]] std::filesystem::path cache_file();
/// share/tutti/tuning.json of the installation that this library is part of.
[[nodiscard]] std::filesystem::path install_file();

/// The content of a regular file of at most longest_file bytes; nothing where there is no such file. Throws Error (io),
/// whose text is the reason, where it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);
/// Writes a file as a whole or not at all, with the folders above it. Throws Error (io), which names the path.
void write_file(const std::filesystem::path& path, std::string_view text);

/// What a rank found in its files.
struct Finding {
  enum class Status : int { nothing, table, refused };
  Status status = Status::nothing;
  std::string report{};  ///< in words: where the table is from, or why there is none; of a refusal the reason
  std::string text{};    ///< the table, as a document of its own
};

/// Looks for the table of a machine: in the file that TUTTI_TUNING names ("off": nowhere), else in the user's cache
/// folder, then in the install's. A file named by TUTTI_TUNING that cannot be used is refused, but for one thing: where
/// `is_part` (some of the ranks of the job, or one), it may lack a table for their number. What the folders have and
/// does not fit is passed over, and the report says why. Local; throws nothing but bad_alloc.
[[nodiscard]] Finding find_table(const Topology& topology, bool is_part);

/// Rank 0 looks for a table and gives all ranks what it found: the table, or nullptr, or on every rank the same Error
/// (io) where TUTTI_TUNING of rank 0 names a file that cannot be used. `report` tells in words what was found. The
/// environment and the files of the other ranks do not matter. Collective over `comm`, a private communicator; waits
/// yielding. Without a table it costs one broadcast of 16 bytes.
[[nodiscard]] std::shared_ptr<const Table> load_table(MPI_Comm comm, const Topology& topology, std::string& report);

}  // namespace tutti::detail::tuning
