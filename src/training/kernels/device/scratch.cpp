// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/scratch.hpp"

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::kernels::device {

using pooled_memory::Pool;

Workspace::Workspace() : scratch_(std::make_unique<Scratch>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

void Workspace::Scratch::enter(StreamHandle stream) {
  is_captured_ = pooled_memory::required_runtime("kernels on device memory").capture_of(stream) != 0;
}

void Workspace::Scratch::refuse_capture() const {
  if (!is_captured_) return;
  throw Error(ErrorCode::not_supported,
              "kernels on device memory: a capture needs memory that this workspace lacks; make the same call once "
              "before the capture, with this workspace");
}

void Workspace::Scratch::retire(pooled_memory::Block block, int device, StreamHandle stream) {
  while (!retired_.empty() && retired_.front().passed.is_complete()) retired_.pop_front();
  if (block.data() == nullptr) return;
  Retired& last = retired_.emplace_back(Retired{std::move(block), {}});
  last.passed.record(device, stream);
}

void Workspace::Scratch::replace(Piece& piece, pooled_memory::Block block, int device, StreamHandle stream) {
  pooled_memory::Block former = std::exchange(piece.block, std::move(block));
  if (std::exchange(piece.is_of_graph, false))
    of_graphs_.push_back(std::move(former));
  else
    retire(std::move(former), device, stream);
}

std::byte* Workspace::Scratch::memory(ScratchUse use, std::size_t bytes, StreamHandle stream) {
  Piece& piece = pieces_[static_cast<std::size_t>(use)];
  if (piece.block.size() < bytes) {
    refuse_capture();
    const int device = pooled_memory::required_runtime("kernels on device memory").current_device();
    replace(piece, Pool::of(MemoryKind::device, device).acquire(bytes), device, stream);
  }
  piece.is_of_graph = piece.is_of_graph || is_captured_;
  return piece.block.data();
}

Workspace::Scratch::Copy& Workspace::Scratch::least_used() {
  if (copies_.size() < most_copies) return copies_.emplace_back();
  return *std::min_element(copies_.begin(), copies_.end(),
                           [](const Copy& a, const Copy& b) { return a.last_use < b.last_use; });
}

const std::byte* Workspace::Scratch::upload_bytes(std::span<const std::byte> bytes, StreamHandle stream) {
  ++calls_;
  for (Copy& copy : copies_) {
    if (!std::equal(bytes.begin(), bytes.end(), copy.bytes.begin(), copy.bytes.end())) continue;
    copy.last_use = calls_;
    copy.device.is_of_graph = copy.device.is_of_graph || is_captured_;
    return copy.device.block.data();
  }
  refuse_capture();
  auto& runtime = pooled_memory::required_runtime("kernels on device memory");
  const int device = runtime.current_device();
  Copy& copy = least_used();
  replace(copy.device, Pool::of(MemoryKind::device, device).acquire(bytes.size()), device, stream);
  copy.bytes.assign(bytes.begin(), bytes.end());
  copy.last_use = calls_;
  std::byte* const there = copy.device.block.data();
  auto staged = Pool::of(MemoryKind::pinned, device).acquire(bytes.size());
  std::memcpy(staged.data(), bytes.data(), bytes.size());
  runtime.copy(there, staged.data(), bytes.size(), stream);
  retire(std::move(staged), device, stream);
  return there;
}

}  // namespace tutti::kernels::device
