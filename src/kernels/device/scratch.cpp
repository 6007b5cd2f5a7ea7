// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/scratch.hpp"

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

#include "kernels/device/combine.hpp"

namespace tutti::kernels::device {

using pooled_memory::Pool;

bool is_available() noexcept { return has_kernels(); }

Workspace::Workspace() : scratch_(std::make_unique<Scratch>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

void Workspace::Scratch::refuse_capture(StreamHandle stream) const {
  if (pooled_memory::required_runtime("kernels on device memory").capture_of(stream) == 0) return;
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

std::byte* Workspace::Scratch::memory(ScratchUse use, std::size_t bytes, StreamHandle stream) {
  auto& piece = pieces_[static_cast<std::size_t>(use)];
  if (piece.size() >= bytes) return piece.data();
  refuse_capture(stream);
  const int device = pooled_memory::required_runtime("kernels on device memory").current_device();
  auto larger = Pool::of(MemoryKind::device, device).acquire(bytes);
  retire(std::exchange(piece, std::move(larger)), device, stream);
  return piece.data();
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
    return copy.device.data();
  }
  refuse_capture(stream);
  auto& runtime = pooled_memory::required_runtime("kernels on device memory");
  const int device = runtime.current_device();
  Copy& copy = least_used();
  retire(std::move(copy.device), device, stream);
  copy.device = Pool::of(MemoryKind::device, device).acquire(bytes.size());
  copy.bytes.assign(bytes.begin(), bytes.end());
  copy.last_use = calls_;
  auto staged = Pool::of(MemoryKind::pinned, device).acquire(bytes.size());
  std::memcpy(staged.data(), bytes.data(), bytes.size());
  runtime.copy(copy.device.data(), staged.data(), bytes.size(), stream);
  retire(std::move(staged), device, stream);
  return copy.device.data();
}

}  // namespace tutti::kernels::device
