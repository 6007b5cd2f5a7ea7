// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <smpi/smpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>

#include "model.hpp"

namespace tutti::scale {

Machine::Machine(int ranks, int per_node, const schedules::Starts& starts)
    : node_of_(schedules::NodeMap::blocks(ranks, per_node)),
      starts_(starts),
      barrier_(sg_barrier_init(static_cast<unsigned>(ranks))) {}

Machine& Machine::of(int ranks, int per_node, const schedules::Starts& starts) {
  static Machine machine(ranks, per_node, starts);
  return machine;
}

void Machine::meet() { sg_barrier_wait(static_cast<sg_bar_t>(barrier_)); }

void Machine::begin() { start_ = last_ = simgrid_get_clock(); }

void Machine::end() { last_ = std::max(last_, simgrid_get_clock()); }

void use_model() {
  // SMPI charges a blocking send of a long message nothing, and a nonblocking one its overhead: neither pays here.
  const auto overhead = [](std::size_t bytes, simgrid::s4u::Host* from, simgrid::s4u::Host* to) {
    return bytes >= Model::long_bytes ? 0 : from == to ? model.node_overhead : model.network_overhead;
  };
  for (const SmpiOperation operation : {SmpiOperation::SEND, SmpiOperation::ISEND, SmpiOperation::RECV})
    smpi_register_op_cost_callback(operation, overhead);
  auto* network = simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_network_model();
  network->set_lat_factor_cb([](double, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to, const auto&,
                                const auto&) { return from == to ? model.latency_factor() : 1.0; });
  network->set_bw_factor_cb([](double, const auto*, const auto*, const auto&, const auto&) { return 1.0; });
}

char* untouched_memory() {
  constexpr std::size_t size = std::size_t{1} << 42;
  static void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space for buffers");
  return static_cast<char*>(memory);
}

}  // namespace tutti::scale
