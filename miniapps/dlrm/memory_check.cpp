// SPDX-License-Identifier: BSD-3-Clause
#include "memory_check.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <tutti/collectives/allreduce.hpp>

#include "common/agree.hpp"

namespace dlrm {

namespace {

std::uint64_t available_bytes() {
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
