// SPDX-License-Identifier: BSD-3-Clause
#include "memory_check.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <utility>

#include "common/agree.hpp"

namespace dlrm {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t available_to_all() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  std::string rest;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") {
      return kilobytes * 1024;
    }
    std::getline(file, rest);
  }
  return unlimited;
}

/// The number in a file; none where the file is absent or says "max".
std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// Files in memory, for which the kernel counts a group's use, but which make room for tables.
std::uint64_t cached_files(const std::filesystem::path& stat, const std::string& prefix) {
  std::ifstream file(stat);
  std::uint64_t sum = 0;
  std::string name;
  for (std::uint64_t bytes = 0; file >> name >> bytes;) {
    if (name == prefix + "active_file" || name == prefix + "inactive_file") {
      sum += bytes;
    }
  }
  return sum;
}

/// The files of a version of control groups.
struct GroupFiles {
  std::filesystem::path root;
  const char* limit;
  const char* usage;
  const char* stat_prefix;  ///< of the counts that include the groups inside
};

/// What the control group, and those around it, leave to this process: of a container or a job.
std::uint64_t available_in_groups(const GroupFiles& files, std::filesystem::path group) {
  std::uint64_t least = unlimited;
  for (group = group.relative_path();; group = group.parent_path()) {
    const auto most = number_in(files.root / group / files.limit);
    const auto used = number_in(files.root / group / files.usage);
    if (most && used) {
      const std::uint64_t cached = cached_files(files.root / group / "memory.stat", files.stat_prefix);
      const std::uint64_t kept = *used - std::min(*used, cached);
      least = std::min(least, *most - std::min(*most, kept));
    }
    if (group.empty()) {
      return least;
    }
  }
}

/// What Slurm has granted this job on this node, in the bytes that it says; without control groups its daemon ends a
/// job that takes more.
std::uint64_t granted_by_slurm() {
  constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
  const auto number = [](const char* name) -> std::uint64_t {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  };
  if (const std::uint64_t of_node = number("SLURM_MEM_PER_NODE"); of_node > 0) {
    return of_node * megabyte;
  }
  const std::uint64_t of_cores = number("SLURM_MEM_PER_CPU") * number("SLURM_CPUS_ON_NODE");
  return of_cores > 0 ? of_cores * megabyte : unlimited;
}

/// What the limits of this process leave to it: RLIMIT_AS counts all of its memory, RLIMIT_DATA what is its own.
std::uint64_t available_to_process() {
  std::ifstream file("/proc/self/statm");
  std::array<std::uint64_t, 6> pages{};  // all, resident, shared, text, none, data
  for (std::uint64_t& count : pages) {
    file >> count;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t least = unlimited;
  for (const auto& [resource, used] : {std::pair(RLIMIT_AS, pages[0]), std::pair(RLIMIT_DATA, pages[5])}) {
    rlimit most{};
    if (getrlimit(resource, &most) == 0 && most.rlim_cur != RLIM_INFINITY) {
      least = std::min<std::uint64_t>(least, most.rlim_cur - std::min<std::uint64_t>(most.rlim_cur, used * page));
    }
  }
  return least;
}

std::uint64_t available_bytes() {
  std::uint64_t least = std::min(available_to_all(), granted_by_slurm());
  std::ifstream groups("/proc/self/cgroup");  // "0::/path", or "4:memory:/path" of version 1
  for (std::string line; std::getline(groups, line);) {
    const std::size_t path = line.rfind(':');
    if (line.starts_with("0::")) {
      least = std::min(
          least, available_in_groups({"/sys/fs/cgroup", "memory.max", "memory.current", ""}, line.substr(path + 1)));
    } else if (line.find(":memory:") != std::string::npos) {
      least = std::min(least, available_in_groups(
                                  {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"},
                                  line.substr(path + 1)));
    }
  }
  return least;
}

}  // namespace

FreeMemory free_memory(const tutti::Communicator& comm) {
  const auto node = comm.split_by_node();
  const std::uint64_t of_node = available_bytes() / static_cast<std::uint64_t>(node.size());
  std::uint64_t least = std::min(of_node, available_to_process()) / 10 * 9;
  tutti::allreduce(comm, &least, 1, tutti::min);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  return {least, least > unlimited / ranks ? unlimited : least * ranks};
}

namespace {

std::string gigabytes(std::uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

constexpr const char* remedy =
    "keep them on disk by --table-memory and --table-folder, use more nodes or a smaller --table-type, or lower "
    "--max-ind-range or --arch-embedding-size";

}  // namespace

void check_memory(const tutti::Communicator& comm, std::size_t bytes) {
  const auto node = comm.split_by_node();
  std::uint64_t needed = bytes;
  tutti::allreduce(node, &needed, 1, tutti::sum);
  std::uint64_t available = available_bytes();
  tutti::allreduce(node, &available, 1, tutti::min);
  const std::uint64_t own = available_to_process();
  std::string problem;
  if (needed > available) {
    problem = fmt::format("the tables need {} on the node of rank {}, which has {} available; {}", gigabytes(needed),
                          comm.rank(), gigabytes(available), remedy);
  } else if (bytes > own) {
    problem = fmt::format("the tables need {} on rank {}, whose limits (ulimit -v, ulimit -d) leave {}; {}",
                          gigabytes(bytes), comm.rank(), gigabytes(own), remedy);
  }
  tutti::miniapps::agree(comm, problem);
}

}  // namespace dlrm
