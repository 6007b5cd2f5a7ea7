// SPDX-License-Identifier: BSD-3-Clause
#include "memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <tutti/collectives/allreduce.hpp>

#include "common/agree.hpp"

namespace dlrm {

namespace {

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
  return std::numeric_limits<std::uint64_t>::max();
}

/// The number in a file; none where the file is absent or says "max".
std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// What the control group, and those around it, leave to this process: of a container or a job.
std::uint64_t available_in_groups(const std::filesystem::path& root, std::filesystem::path group, const char* limit,
                                  const char* usage) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (group = group.relative_path();; group = group.parent_path()) {
    const auto most = number_in(root / group / limit);
    const auto used = number_in(root / group / usage);
    if (most && used) {
      least = std::min(least, *most - std::min(*most, *used));
    }
    if (group.empty()) {
      return least;
    }
  }
}

std::uint64_t available_bytes() {
  std::uint64_t least = available_to_all();
  std::ifstream groups("/proc/self/cgroup");  // "0::/path", or "4:memory:/path" of version 1
  for (std::string line; std::getline(groups, line);) {
    const std::size_t path = line.rfind(':');
    if (line.starts_with("0::")) {
      least =
          std::min(least, available_in_groups("/sys/fs/cgroup", line.substr(path + 1), "memory.max", "memory.current"));
    } else if (line.find(":memory:") != std::string::npos) {
      least = std::min(least, available_in_groups("/sys/fs/cgroup/memory", line.substr(path + 1),
                                                  "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return least;
}

}  // namespace

FreeMemory free_memory(const tutti::Communicator& comm) {
  const auto node = comm.split_by_node();
  std::uint64_t least = available_bytes() / 10 * 9 / static_cast<std::uint64_t>(node.size());
  tutti::allreduce(comm, &least, 1, tutti::min);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return {least, least > most / ranks ? most : least * ranks};
}

void check_memory(const tutti::Communicator& comm, std::size_t bytes) {
  const auto node = comm.split_by_node();
  std::uint64_t needed = bytes;
  tutti::allreduce(node, &needed, 1, tutti::sum);
  std::uint64_t available = available_bytes();
  tutti::allreduce(node, &available, 1, tutti::min);
  tutti::miniapps::agree(
      comm, needed <= available
                ? std::string()
                : fmt::format("the tables need {:.1f} GB on the node of rank {}, which has {:.1f} GB available; use "
                              "more nodes or a smaller --table-type, or lower --max-ind-range or --arch-embedding-size",
                              static_cast<double>(needed) / 1e9, comm.rank(), static_cast<double>(available) / 1e9));
}

}  // namespace dlrm
