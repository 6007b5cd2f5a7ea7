// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <fmt/format.h>

#include <mutex>
#include <tutti/device.hpp>
#include <tutti/memory.hpp>
#include <unordered_map>
#include <variant>

#include "guard.hpp"
#include "handles.hpp"

using namespace tutti::c;
using tutti::Allocation;
using tutti::DeviceMemory;
using tutti::Error;
using tutti::ErrorCode;
using tutti::MemoryKind;

namespace {

/// Memory from tutti_allocate or tutti_device_allocate.
using HeldMemory = std::variant<Allocation, DeviceMemory>;

/// All of it, found by address: C holds nothing else of it.
struct Held {
  std::mutex mutex;
  std::unordered_map<const void*, HeldMemory> by_address;
};

// Never destroyed: programs may free after the statics of this file.
Held& held() {
  static auto* all = new Held;
  return *all;
}

void hold(const void* address, HeldMemory memory) {
  Held& all = held();
  const std::lock_guard lock(all.mutex);
  all.by_address.emplace(address, std::move(memory));
}

/// Turns an unknown number into a kind that tutti::allocate refuses on all ranks: it compares them first.
MemoryKind kind_of(int number) {
  const bool is_kind = number >= TUTTI_MEMORY_DETECT && number <= TUTTI_MEMORY_MANAGED;
  return is_kind ? static_cast<MemoryKind>(number) : static_cast<MemoryKind>(255);
}

}  // namespace

int tutti_allocate(tutti_comm_t comm, size_t bytes, int memory_kind, void** data) {
  return guard([&] {
    output(data, "data") = nullptr;
    Allocation memory = tutti::allocate(communicator(comm), bytes, kind_of(memory_kind));
    void* address = memory.data();
    hold(address, std::move(memory));
    *data = address;
  });
}

int tutti_device_allocate(int memory_kind, size_t bytes, void** data) {
  return guard([&] {
    output(data, "data") = nullptr;
    if (memory_kind < TUTTI_MEMORY_PINNED || memory_kind > TUTTI_MEMORY_MANAGED)
      throw_misuse(ErrorCode::invalid_argument,
                   fmt::format("argument memory_kind is {}; pass TUTTI_MEMORY_DEVICE, _MANAGED or _PINNED, or use "
                               "tutti_allocate for memory of the host",
                               memory_kind));
    DeviceMemory memory(kind_of(memory_kind), bytes);
    void* address = memory.data();
    if (address == nullptr) return;
    hold(address, std::move(memory));
    *data = address;
  });
}

int tutti_deallocate(void* data) {
  return guard([&] {
    if (data == nullptr) return;
    HeldMemory memory;
    {
      Held& all = held();
      const std::lock_guard lock(all.mutex);
      const auto found = all.by_address.find(data);
      if (found == all.by_address.end())
        throw_misuse(ErrorCode::invalid_argument,
                     fmt::format("argument data is {}, which is neither from tutti_allocate nor from "
                                 "tutti_device_allocate, or was freed already; pass each address from them once",
                                 data));
      memory = std::move(found->second);
      all.by_address.erase(found);
    }
  });
}
