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
#include <vector>

#include "planner/format.hpp"

namespace tutti::detail::tuning {

/// Longer files are refused without being read.
inline constexpr std::size_t longest_file = std::size_t{8} << 20U;

/// $XDG_CACHE_HOME/tutti/tuning.json, else ~/.cache/tutti/tuning.json; empty if neither variable names a folder.
[[nodiscard]] std::filesystem::path cache_file();
/// The file share/tutti/tuning.json in this library's installation.
[[nodiscard]] std::filesystem::path install_file();

/// The files that are looked into if TUTTI_TUNING names none, in this order: the user's, then the installation's.
[[nodiscard]] std::vector<std::filesystem::path> usual_files();

/// Reads a regular file of at most longest_file bytes; returns nothing if the file does not exist. Throws Error (io)
/// with the reason if the file cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);
/// Writes a file completely or not at all, and makes the folders above it. Throws Error (io), which names the path.
void write_file(const std::filesystem::path& path, std::string_view text);

/// A rank's result of looking for a table in its files.
struct Finding {
  enum class Status : int { nothing, table, refused };
  Status status = Status::nothing;
  std::string report{};  ///< in words: the origin of the table, or the reason for its absence or refusal
  std::string text{};    ///< the table as a separate document
};

/// Looks for the table of a machine: in the file that TUTTI_TUNING names ("off": nowhere), else in the user's cache
/// folder, then in the installation. Refuses a file named by TUTTI_TUNING that cannot be used, with one exception: for
/// `is_part` (a part of the job's ranks, or one rank) the file may lack a table for their number. Skips files in the
/// folders that do not fit, and reports the reason. Local. Throws only bad_alloc.
[[nodiscard]] Finding find_table(const Topology& topology, bool is_part);

/// Rank 0 looks for a table and gives all ranks the result: the table, nullptr, or on every rank the same Error (io) if
/// TUTTI_TUNING of rank 0 names a file that cannot be used. `report` describes the result in words. The environment and
/// the files of the other ranks do not matter. Collective over `comm`, a private communicator; waits yielding. Without
/// a table it costs one broadcast of 16 bytes.
[[nodiscard]] std::shared_ptr<const Table> load_table(MPI_Comm comm, const Topology& topology, std::string& report);

}  // namespace tutti::detail::tuning
