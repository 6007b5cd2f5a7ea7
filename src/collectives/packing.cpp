// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/packing.hpp"

#include "call/deferred_free.hpp"
#include "kernels/pack.hpp"

namespace tutti::detail {

BufferCopies::~BufferCopies() {
  for (Copy& copy : copies_) comm_->scratch.release(std::move(copy.block));
}

void* BufferCopies::add(const std::shared_ptr<const Grid>& layout, std::size_t unit, const void* from, void* to) {
  copies_.push_back({layout, unit, from, to, comm_->scratch.acquire(layout->elements * unit)});
  return copies_.back().block.data();
}

void BufferCopies::replace(ConstBuffer& buffer) {
  buffer.data = add(buffer.layout, buffer.type.size(), buffer.data, nullptr);
  buffer.memory = MemoryKind::host;
  buffer.layout.reset();
}

void BufferCopies::replace(Buffer& buffer, bool is_read, bool is_written) {
  buffer.data =
      add(buffer.layout, buffer.type.size(), is_read ? buffer.data : nullptr, is_written ? buffer.data : nullptr);
  buffer.memory = MemoryKind::host;
  buffer.layout.reset();
}

void BufferCopies::pack() {
  for (const Copy& copy : copies_)
    if (copy.from != nullptr) kernels::pack(*copy.layout, copy.unit, copy.from, copy.block.data());
}

void BufferCopies::unpack() {
  for (const Copy& copy : copies_)
    if (copy.to != nullptr) kernels::unpack(*copy.layout, copy.unit, copy.block.data(), copy.layout->elements, copy.to);
}

void BufferCopies::give_up() noexcept {
  for (Copy& copy : copies_) defer_free(std::move(copy.block.memory));
  copies_.clear();
}

PackedExecution::PackedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, std::unique_ptr<Packing> packing)
    : Execution(std::move(comm), {}, inner->persistent()), inner_(std::move(inner)), packing_(std::move(packing)) {}

bool PackedExecution::begin() {
  packing_->pack();
  inner_->start();
  return inner_->finished() && end();
}

bool PackedExecution::step() { return inner_->poll() && end(); }

bool PackedExecution::end() {
  inner_->rethrow();
  packing_->unpack();
  inner_->acknowledge();
  return true;
}

void PackedExecution::cancel() noexcept {
  drop_part(*inner_);
  packing_->give_up();
}

}  // namespace tutti::detail
