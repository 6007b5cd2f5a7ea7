// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <tutti/error.hpp>

#include "core/mpi_call.hpp"
#include "planner/files.hpp"
#include "planner/remembered.hpp"

namespace tutti::detail::tuning {
namespace {

namespace fs = std::filesystem;

/// The reason why the tables of a file do not fit a machine: the difference of the nearest table.
std::string misfit(const std::vector<Section>& sections, const Key& here) {
  std::string reason = "it contains no table";
  for (const Section& section : sections) {
    const std::string found = difference(section.key, here);
    const bool is_of_here = section.key.cpu == here.cpu && section.key.mpi == here.mpi;
    reason = fmt::format("it was measured on another machine or number of ranks: {}", found);
    if (is_of_here) break;
  }
  return reason;
}

bool has_machine(const std::vector<Section>& sections, const Key& here) {
  for (const Section& section : sections)
    if (section.key.cpu == here.cpu && section.key.mpi == here.mpi) return true;
  return false;
}

/// Looks into one file; `explicitly` if the user named the file.
void look_into(const fs::path& path, const Topology& topology, bool explicitly, bool is_part, Finding& finding) {
  const auto refuse = [&](const std::string& reason, bool is_refused) {
    if (is_refused) finding.status = Finding::Status::refused;
    finding.report += fmt::format("{}{}: {}", finding.report.empty() ? "" : "; ", path.string(), reason);
  };
  try {
    const auto tables = tables_in(path);
    if (!tables) {
      if (explicitly) refuse("there is no such file", true);
      return;
    }
    const std::vector<Section>& sections = tables->sections();
    const Key here = key_of(topology);
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (sections[i].key == here) {
        finding.text = tables->text(i);
        finding.status = Finding::Status::table;
        finding.report = fmt::format("{}: {} cells for {} ranks", path.string(), sections[i].cells.size(), here.ranks);
        return;
      }
    refuse(misfit(sections, here), explicitly && !(is_part && has_machine(sections, here)));
  } catch (const Error& e) {
    refuse(e.what(), explicitly);
  }
}

void broadcast(MPI_Comm comm, void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  wait_yielding(request, "MPI_Ibcast");
}

/// Rank 0's result for the other ranks. Rank 0 must not fail before it has sent this, because they wait for it.
Finding look(MPI_Comm comm, const Topology& topology) {
  try {
    int size = 1;
    MPI_Comm_size(comm, &size);
    int world_size = size;  // a session has no other size to compare with
    if (world_is_usable()) MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    return find_table(topology, size != world_size || size == 1);
  } catch (const std::exception& e) {
    return {Finding::Status::refused, fmt::format("it cannot be used ({})", e.what()), {}};
  }
}

}  // namespace

std::vector<fs::path> usual_files() {
  std::vector<fs::path> files{cache_file(), install_file()};
  std::erase_if(files, [](const fs::path& path) { return path.empty(); });
  return files;
}

Finding find_table(const Topology& topology, bool is_part) {
  Finding finding;
  const char* named = std::getenv("TUTTI_TUNING");
  if (named != nullptr && *named != '\0') {
    if (std::string_view(named) == "off")
      finding.report = "TUTTI_TUNING=off";
    else
      look_into(named, topology, true, is_part, finding);
    return finding;
  }
  for (const fs::path& path : usual_files()) {
    look_into(path, topology, false, is_part, finding);
    if (finding.status == Finding::Status::table) return finding;
  }
  return finding;
}

std::shared_ptr<const Table> load_table(MPI_Comm comm, const Topology& topology, std::string& report) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Finding finding;
  if (rank == 0) finding = look(comm, topology);
  std::array<std::int32_t, 4> header{static_cast<std::int32_t>(finding.status),
                                     static_cast<std::int32_t>(finding.report.size()),
                                     static_cast<std::int32_t>(finding.text.size()), 0};
  broadcast(comm, header.data(), sizeof header);
  finding.status = static_cast<Finding::Status>(header[0]);
  finding.report.resize(static_cast<std::size_t>(header[1]));
  finding.text.resize(static_cast<std::size_t>(header[2]));
  if (!finding.report.empty()) broadcast(comm, finding.report.data(), finding.report.size());
  if (!finding.text.empty()) broadcast(comm, finding.text.data(), finding.text.size());
  if (finding.status == Finding::Status::refused)
    throw Error(ErrorCode::io,
                fmt::format("TUTTI_TUNING of rank 0 names a table that cannot be used: {}; measure again with "
                            "'tutti tune', or unset TUTTI_TUNING",
                            finding.report));
  report = finding.report;
  if (finding.status != Finding::Status::table) return nullptr;
  return table_of(finding.text);
}

}  // namespace tutti::detail::tuning
