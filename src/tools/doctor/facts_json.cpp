// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "tools/doctor/facts.hpp"

namespace tutti::tools::doctor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedMemory, exists, is_read_only, free_bytes, all_bytes, file_system, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limits, file_bytes, address_bytes, locked_bytes, descriptors, open_descriptors,
                                   group_bytes, group_free_bytes, group_cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Walls, processes, ipc, user, ptrace_scope, seccomp, may_trace)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Processor, units, cores, governor, clock, huge_pages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Device, is_built, count, current, name, bus_id, driver_version, runtime_version,
                                   nccl_version, nccl_problem, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, host, shm, limits, walls, processor, device, variables, doubts,
                                   thread_level, hardware, network)

// Variables may hold bytes that are not UTF-8.
std::string facts_to_json(const RankFacts& facts) {
  return nlohmann::json(facts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankFacts facts_from_json(const std::string& text) { return nlohmann::json::parse(text).get<RankFacts>(); }

}  // namespace tutti::tools::doctor
