// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <tutti/error.hpp>

#include "core/mpi_call.hpp"
#include "tuning/files.hpp"

namespace tutti::detail::tuning {
namespace {

namespace fs = std::filesystem;

/// Why the tables of a file do not fit a machine: the difference of the one that comes nearest.
std::string misfit(const std::vector<Section>& sections, const Key& here) {
  std::string reason = "it has no table";
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

/// Looks into one file; `explicitly` where the user named it. False where there is nothing to see.
bool look_into(const fs::path& path, const Topology& topology, bool explicitly, bool is_part, Finding& finding) {
  const auto refuse = [&](const std::string& reason, bool is_refused) {
    if (is_refused) finding.status = Finding::Status::refused;
    finding.report += fmt::format("{}{}: {}", finding.report.empty() ? "" : "; ", path.string(), reason);
  };
  try {
    const auto text = read_file(path);
    if (!text) {
      if (explicitly) refuse("there is no such file", true);
      return explicitly;
    }
    const std::vector<Section> sections = parse(*text);
    const Key here = key_of(topology);
    for (const Section& section : sections)
      if (section.key == here) {
        finding.status = Finding::Status::table;
        finding.section = section;
        finding.report = fmt::format("{}: {} cells for {} ranks", path.string(), section.cells.size(), here.ranks);
        return true;
      }
    refuse(misfit(sections, here), explicitly && !(is_part && has_machine(sections, here)));
  } catch (const Error& e) {
    refuse(e.what(), explicitly);
  }
  return explicitly;
}

void broadcast(MPI_Comm comm, void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  wait_yielding(request, "MPI_Ibcast");
}

struct Message {
  Finding::Status status = Finding::Status::nothing;
  std::string report{};
  std::string text{};
};

/// What rank 0 tells the others. It must not fail before they know: they wait for it.
Message look(MPI_Comm comm, const Topology& topology) {
  Message message;
  try {
    int size = 1;
    int world_size = 1;
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    const Finding finding = find_table(topology, size != world_size || size == 1);
    if (finding.status == Finding::Status::table) message.text = print({finding.section});
    message.report = finding.report;
    message.status = finding.status;
  } catch (const std::exception& e) {
    message = {Finding::Status::refused, fmt::format("it cannot be used ({})", e.what()), {}};
  }
  return message;
}

}  // namespace

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
  for (const fs::path& path : {cache_file(), install_file()})
    if (!path.empty()) {
      look_into(path, topology, false, is_part, finding);
      if (finding.status == Finding::Status::table) return finding;
    }
  return finding;
}

std::shared_ptr<const Table> load_table(MPI_Comm comm, const Topology& topology, std::string& report) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Message message;
  if (rank == 0) message = look(comm, topology);
  std::array<std::int32_t, 4> header{static_cast<std::int32_t>(message.status),
                                     static_cast<std::int32_t>(message.report.size()),
                                     static_cast<std::int32_t>(message.text.size()), 0};
  broadcast(comm, header.data(), sizeof header);
  message.status = static_cast<Finding::Status>(header[0]);
  message.report.resize(static_cast<std::size_t>(header[1]));
  message.text.resize(static_cast<std::size_t>(header[2]));
  if (!message.report.empty()) broadcast(comm, message.report.data(), message.report.size());
  if (!message.text.empty()) broadcast(comm, message.text.data(), message.text.size());
  if (message.status == Finding::Status::refused)
    throw Error(ErrorCode::io,
                fmt::format("TUTTI_TUNING of rank 0 names a table that cannot be used: {}; measure it again with "
                            "'tutti tune', or unset TUTTI_TUNING",
                            message.report));
  report = message.report;
  if (message.status != Finding::Status::table) return nullptr;
  return std::make_shared<const Table>(parse(message.text).at(0).cells);
}

}  // namespace tutti::detail::tuning
