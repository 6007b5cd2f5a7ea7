// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/services.hpp"

#include <algorithm>
#include <cstdint>

#include "backends/prepare_device.hpp"
#include "call/agreement.hpp"
#include "call/allocations.hpp"
#include "call/context.hpp"
#include "call/cost_model.hpp"
#include "call/late_communicator.hpp"
#include "core/config.hpp"
#include "device/at_rest.hpp"
#include "device/traffic.hpp"
#include "topology/columns.hpp"

namespace tutti::detail::services {

namespace {

/// The data by which the other ranks of a node find a rank's part.
struct PartName {
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
};

}  // namespace

void check_usable(const Communicator& comm) { comm.state()->check_usable(); }
void check_aborted(const Communicator& comm) { comm.state()->check_aborted(); }
std::string describe(const Communicator& comm) { return comm.state()->describe(); }
Communicator share(const Communicator& comm) { return Communicator(comm.state()); }
MPI_Comm private_mpi(const Communicator& comm) { return comm.state()->point_to_point; }

int private_communicators() { return tutti::detail::private_communicators(); }

void refuse_stalling(const Communicator& comm) { comm.state()->refuses_stalling = true; }

void mpi_barrier(const Communicator& comm) {
  MPI_Request all_here = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(private_mpi(comm), &all_here), "MPI_Ibarrier");
  wait_yielding(all_here, "MPI_Ibarrier");
}

MappedParts allocate_mapped(const Communicator& comm, std::size_t bytes) {
  const bool may_share = comm.size() == 1 || (config().shared_memory && comm.topology().nodes == 1);
  if (!may_share) return {};
  MappedParts mapped{allocate(comm, bytes), {}};
  if (comm.size() == 1) {
    mapped.parts.push_back(static_cast<std::byte*>(mapped.own.data()));
    return mapped;
  }
  PartName mine;
  if (mapped.own.is_shared()) (void)shm::Allocations::instance().find(mapped.own.data(), mine.id, mine.offset);
  const std::vector<PartName> names = all_gather(*comm.state(), mine);
  if (std::any_of(names.begin(), names.end(), [](const PartName& name) { return name.id == 0; })) return {};
  for (const PartName& name : names) mapped.parts.push_back(shm::Allocations::instance().resolve(name.id, name.offset));
  return mapped;
}

ExchangeSpeed predict_exchange(const Communicator& comm) {
  const Topology& topology = comm.topology();
  if (topology.nodes == 1) {
    const Link link = links_of(comm.state()->machine())[comm.state()->on_node];
    return {link.overhead, link.copying_rate / 2};
  }
  const Link link = links_of(comm.state()->machine())[LinkLevel::network];
  const double senders = static_cast<double>(comm.size()) / static_cast<double>(topology.nodes);
  return {link.overhead, std::min(link.rate, link.shared_rate / senders)};
}

void wait_for(const device::Event& event) {
  while (!event.is_complete()) device::give_way();
}

void wait_for_stream(int device, device::StreamHandle stream) {
  device::Event event;
  event.record(device, stream);
  wait_for(event);
}

void DeviceRelease::operator()(std::byte* memory) const {
  device::at_rest(device, [&] { device::runtime()->release(MemoryKind::device, memory); });
}

DeviceMemory allocate_on_device(std::size_t bytes) {
  auto& runtime = device::required_runtime("memory on a device");
  const int device = runtime.current_device();
  auto* memory = device::at_rest(device, [&] {
    return static_cast<std::byte*>(runtime.allocate(MemoryKind::device, std::max<std::size_t>(bytes, 1)));
  });
  return {memory, DeviceRelease{device}};
}

bool registers_device_memory(const Communicator& comm) { return detail::registers_device_memory(*comm.state()); }

std::string in_columns(const TextRows& rows) { return detail::in_columns(rows); }

}  // namespace tutti::detail::services
