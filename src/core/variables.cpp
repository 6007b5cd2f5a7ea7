// SPDX-License-Identifier: BSD-3-Clause
#include "core/variables.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::detail {
namespace {

constexpr std::array<Variable, 34> all = {{
    {"TUTTI_TIMEOUT", "timeout of calls that have none of their own, in seconds"},
    {"TUTTI_REPRODUCIBLE", "1: every call is reproducible; exact: and adds without rounding"},
    {"TUTTI_PROGRESS_THREAD", "1: a thread drives outstanding operations"},
    {"TUTTI_PROGRESS_HOOK", "0: outstanding operations do not go on inside the MPI's calls"},
    {"TUTTI_ALGORITHM", "algorithms for calls that name none"},
    {"TUTTI_TUNING", "file of measurements, or off"},
    {"TUTTI_CALIBRATION", "off, file or now"},
    {"TUTTI_NETWORK", "file of the network's groups of nodes, as Slurm's topology.conf, or off"},
    {"TUTTI_TRIALS", "0: repeated calls try no other way"},
    {"TUTTI_SHM", "0: ranks share no memory"},
    {"TUTTI_SINGLE_COPY", "0: no copies between two processes"},
    {"TUTTI_XPMEM", "0: no XPMEM"},
    {"TUTTI_XPMEM_LIBRARY", "file of XPMEM's library"},
    {"TUTTI_NCCL", "0: no NCCL"},
    {"TUTTI_NCCL_BLOCKING", "0: NCCL communicators do not block, and NCCL launches in threads of its own"},
    {"TUTTI_NCCL_REGISTER", "1: memory of tutti::allocate is registered with NCCL"},
    {"TUTTI_NCCL_LIBRARY", "file of NCCL's library"},
    {"TUTTI_CUBLAS_LIBRARY", "file of cuBLAS"},
    {"TUTTI_CUDA_AWARE", "1: the MPI takes device addresses; 0: it does not"},
    {"TUTTI_CHECK", "1: ranks compare their calls; 2: and buffers in whole"},
    {"TUTTI_LOG", "1: warnings; summary: the calls of the program at its end"},
    {"TUTTI_FLIGHT", "0: no flight recorder; a folder, as ./flight: recorders stay there"},
    {"TUTTI_FLIGHT_ENTRIES", "calls that a flight recorder holds"},
    {"TUTTI_CHECKSUM", "1: flight recorders have checksums of the data of collectives, for tutti diff"},
    {"TUTTI_HEARTBEAT", "seconds without a sign of life after which a rank on another node has ended"},
    {"TUTTI_TRACE", "file for a trace of all ranks' calls; 0: none"},
    {"TUTTI_WATCHDOG", "seconds of a call after which it is said who waits for whom"},
    {"TUTTI_WATCHDOG_ABORT", "1: the job ends after it is said who waits for whom"},
    {"TUTTI_MPI", "0: libtutti-mpi passes every call on to the MPI"},
    {"TUTTI_MPI_YIELD", "0: waits of MPICH keep their core under libtutti-mpi"},
    {"TUTTI_MPI_REPORT", "1: libtutti-mpi says at the end which calls it has made"},
    {"TUTTI_DATA_DIR", "folder of the mini-apps' data"},
    {"TUTTI_CACHE_DIR", "folder of converted Criteo text"},
    {"TUTTI_RANKS", "ranks of ./quickstart"},
}};

bool is_of_others(std::string_view name) {
  constexpr std::array<std::string_view, 5> others = {"TUTTI_TEST_", "TUTTI_STANDIN_", "TUTTI_JOBS", "TUTTI_CMAKE",
                                                      "TUTTI_ENABLE_"};
  return std::any_of(others.begin(), others.end(), [name](std::string_view one) { return name.starts_with(one); });
}

std::string_view nearest(std::string_view name) {
  return std::min_element(
             all.begin(), all.end(),
             [name](const Variable& a, const Variable& b) { return edits(a.name, name) < edits(b.name, name); })
      ->name;
}

}  // namespace

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

bool read_flag(const char* name, bool otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view value{text};
  if (value.empty() || value == "0" || value == "off" || value == "false") return false;
  if (value == "1" || value == "on" || value == "true") return true;
  throw Error(ErrorCode::invalid_argument, fmt::format("{}={} is not a switch; set it to 0 or 1", name, value));
}

std::span<const Variable> variables() { return all; }

std::vector<std::string> unknown_variables() {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_known =
        std::any_of(all.begin(), all.end(), [name](const Variable& variable) { return variable.name == name; });
    if (!name.starts_with("TUTTI_") || is_known || is_of_others(name)) continue;
    lines.push_back(fmt::format("{} is no variable of this library; did you mean {}?", name, nearest(name)));
  }
  return lines;
}

std::vector<std::string> doubtful_variables() {
  std::vector<std::string> lines = unknown_variables();
  const char* folder = std::getenv("TUTTI_DATA_DIR");
  std::error_code error;
  if (folder != nullptr && *folder != '\0' && !std::filesystem::is_directory(folder, error))
    lines.push_back(fmt::format("TUTTI_DATA_DIR={} is no folder; name one, or leave it unset", folder));
  return lines;
}

}  // namespace tutti::detail
