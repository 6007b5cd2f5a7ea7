// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>

#include "support/standin/state.hpp"

namespace tutti::standin {

Runtime::Pointer Runtime::inspect(const void* address) {
  const std::lock_guard lock(state_->mutex);
  ++state_->questions["inspect"];
  return find(address);
}

MemoryKind Runtime::kind_of(const void* address) const {
  const std::lock_guard lock(state_->mutex);
  return find(address).kind;
}

Runtime::Pointer Runtime::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = state_->memory.upper_bound(at);
  if (!state_->has_context || next == state_->memory.begin()) return {};
  const auto& [begin, piece] = *--next;
  if (at - begin >= std::max<std::size_t>(piece.bytes, 1)) return {};
  return {piece.kind, piece.kind == MemoryKind::pinned ? -1 : piece.device};
}

void* Runtime::allocate(MemoryKind kind, std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  note("allocate", std::string(memory_kind_name(kind)) + " " + std::to_string(bytes));
  if (state_->has_nccl_work()) ++state_->forbidden;
  if (kind == MemoryKind::host || kind == MemoryKind::detect) refuse("allocate: not a kind of CUDA's memory");
  constexpr std::size_t alignment = 4096;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  state_->sweep();
  void* address = nullptr;
  if (bytes <= state_->most - state_->used)
    address =
        kind == MemoryKind::device ? DeviceArena::instance().allocate(bytes) : std::aligned_alloc(alignment, size);
  if (address == nullptr) throw Error(ErrorCode::out_of_memory, "stand-in of CUDA: allocate: out of memory");
  if (kind != MemoryKind::device) {
    std::memset(address, 0xff, size);
    state_->sizes[address] = size;
  }
  state_->has_context = true;
  state_->used += bytes;
  state_->memory[reinterpret_cast<std::uintptr_t>(address)] = {bytes, kind, state_->current_device()};
  return address;
}

void* Runtime::allocate_ordered(std::size_t bytes, StreamHandle /*stream*/) {
  const std::lock_guard lock(state_->mutex);
  note("allocate_ordered");
  const std::size_t forbidden = state_->forbidden;
  void* address = allocate(MemoryKind::device, bytes);
  state_->forbidden = forbidden;  // a pool does not wait for the device
  return address;
}

void Runtime::release_ordered(void* address, StreamHandle stream) noexcept {
  const std::lock_guard lock(state_->mutex);
  const std::size_t forbidden = state_->forbidden;
  (void)stream;  // what was released stays readable until all streams are empty
  release(MemoryKind::device, address);
  state_->forbidden = forbidden;
}

void Runtime::unmap(void* address) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (found != state_->memory.end()) DeviceArena::instance().fill(address, 0xdd, found->second.bytes);
  release(MemoryKind::device, address);
}

void Runtime::note_unused(void* memory, std::size_t bytes) noexcept {
  DeviceArena::instance().fill(memory, 0xdd, bytes);
}

void Runtime::finish_device() {
  {
    const std::lock_guard lock(state_->mutex);
    note("finish_device");
    if (!state_->captures.empty()) refuse("finish_device: a stream of the device is captured");
    if (state_->has_nccl_work()) ++state_->forbidden;
  }
  run_all();
}

void Runtime::release(MemoryKind kind, void* address) noexcept {
  const std::lock_guard lock(state_->mutex);
  record_.push_back(std::string("release ") + memory_kind_name(kind));
  if (state_->has_nccl_work()) ++state_->forbidden;
  const auto found = state_->memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == state_->memory.end()) std::abort();
  state_->used -= found->second.bytes;
  state_->memory.erase(found);
  state_->released.emplace_back(kind, address);
  state_->sweep();
}

}  // namespace tutti::standin
