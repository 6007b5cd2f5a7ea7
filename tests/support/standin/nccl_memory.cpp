// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's memory, registrations and windows.
#include <algorithm>
#include <cstdint>

#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {
namespace {

void* next_handle() {
  static std::uintptr_t last = 0x100;
  return reinterpret_cast<void*>(++last);
}

Result mem_alloc(void** address, std::size_t bytes) {
  auto& state = *current_nccl;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto ordered = state.enter("mem_alloc", "bytes=" + std::to_string(bytes))) return *ordered;
  }
  *address = state.runtime->allocate(MemoryKind::device, bytes);
  return Result::success;
}

Result mem_free(void* address) {
  auto& state = *current_nccl;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto ordered = state.enter("mem_free", "")) return *ordered;
  }
  state.runtime->unmap(address);
  return Result::success;
}

Result comm_register(CommHandle handle, void* address, std::size_t bytes, void** registration) {
  auto& state = *current_nccl;
  const bool is_host = state.runtime->kind_of(address) == MemoryKind::host;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_register", "bytes=" + std::to_string(bytes))) return *ordered;
  NcclComm* comm = state.ready(handle, "comm_register");
  if (comm == nullptr) return Result::invalid_usage;
  if (is_host) return state.violate("comm_register of host memory");
  *registration = next_handle();
  comm->registrations.insert(*registration);
  return Result::success;
}

Result comm_deregister(CommHandle handle, void* registration) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_deregister", "")) return *ordered;
  NcclComm* comm = state.usable(handle, "comm_deregister");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->registrations.erase(registration) == 0) return state.violate("comm_deregister of what is not registered");
  return Result::success;
}

/// The first place with room, as each rank finds it for itself.
void place_window(NcclComm& comm, const void* address, std::size_t bytes, int flags) {
  std::size_t at = 0;
  const auto is_taken = [&](const auto& window) {
    const NcclComm::Window& other = window.second;
    return at < other.place + other.bytes && other.place < at + bytes;
  };
  for (auto found = comm.windows.begin(); found != comm.windows.end();
       found = std::find_if(comm.windows.begin(), comm.windows.end(), is_taken))
    if (is_taken(*found)) at = found->second.place + found->second.bytes;
  const bool is_symmetric = (flags & 1) != 0;
  comm.windows[comm.window.second] = {at, bytes, static_cast<const std::byte*>(address), ++comm.windows_made,
                                      is_symmetric};
  comm.layout = comm.layout * 31 + at + 1;
}

Result window_register(CommHandle handle, void* address, std::size_t bytes, WindowHandle* window, int flags) {
  auto& state = *current_nccl;
  const bool is_host = state.runtime->kind_of(address) == MemoryKind::host;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto ordered =
            state.enter("comm_window_register", "bytes=" + std::to_string(bytes) + ", flags=" + std::to_string(flags)))
      return *ordered;
  }
  NcclComm* comm = nullptr;
  Result answer = Result::success;
  {
    const std::lock_guard lock(state.mutex);
    comm = state.ready(handle, "comm_window_register");
    if (comm == nullptr) return Result::invalid_usage;
    if (is_host) return state.violate("comm_window_register of host memory");
    comm->window = {window, next_handle()};
    place_window(*comm, address, bytes, flags);
    answer = accept(*comm);
  }
  // NCCL 2.28.9 to 2.30.7 say success while the registration goes on.
  if (comm->is_blocking) return block_on(*comm, Result::in_progress);
  return answer == Result::success ? advance(*comm) : Result::success;
}

Result window_deregister(CommHandle handle, WindowHandle window) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_window_deregister", "")) return *ordered;
  NcclComm* comm = state.usable(handle, "comm_window_deregister");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->windows.erase(window) == 0) return state.violate("comm_window_deregister of what is no window");
  return Result::success;
}

}  // namespace

void set_memory_functions(detail::nccl::Table& table) {
  table.mem_alloc = mem_alloc;
  table.mem_free = mem_free;
  table.comm_register = comm_register;
  table.comm_deregister = comm_deregister;
  table.comm_window_register = window_register;
  table.comm_window_deregister = window_deregister;
}

}  // namespace tutti::standin
