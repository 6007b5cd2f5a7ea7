// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/buffers.hpp"

#include <vector>

#include "kernels/device/combine.hpp"
#include "operation/shape.hpp"

namespace tutti::detail {

using device::StreamHandle;
using schedules::BufferName;
using schedules::Local;
using schedules::Slice;

void DeviceBuffers::acquire(const Plan& plan, const schedules::Schedule& schedule, const Binding& binding, int rank,
                            int size, int device) {
  bind(plan, binding, rank, size, device);
  const bool scales = binding.op.kind() == ReduceKind::premul_sum;
  const bool saves = binding.in_place && !schedule.alias_safe;
  if (scales || saves) acquire_copy();
  scratch_ = device::Pool::of(MemoryKind::device, device_).acquire(schedule.scratch_count * unit_);
}

void DeviceBuffers::acquire_direct(const Plan& plan, const Binding& binding, int rank, int size, int device,
                                   bool saves) {
  bind(plan, binding, rank, size, device);
  if (saves) acquire_copy();
}

void DeviceBuffers::acquire_scratch(std::size_t bytes) {
  scratch_ = device::Pool::of(MemoryKind::device, device_).acquire(bytes);
}

void DeviceBuffers::acquire_signals(std::size_t bytes) {
  signals_ = device::Pool::of(MemoryKind::device, device_).acquire(bytes);
}

void DeviceBuffers::bind(const Plan& plan, const Binding& binding, int rank, int size, int device) {
  plan_ = &plan;
  binding_ = &binding;
  rank_ = rank;
  size_ = size;
  device_ = device;
  unit_ = plan.signature.type.size();
  input_ = binding.input;
  copied_ = 0;
}

void DeviceBuffers::acquire_copy() {
  if (binding_->input == nullptr) return;
  copied_ = shape().input_end();
  if (copied_ == 0) return;
  input_copy_ = device::Pool::of(MemoryKind::device, device_).acquire(copied_ * unit_);
  input_ = input_copy_.data();
}

void DeviceBuffers::load_kernels(const Plan& plan, const Binding& binding, int size, StreamHandle stream) {
  const Signature& s = plan.signature;
  const void* const nothing = nullptr;
  const auto divisor = static_cast<std::size_t>(size);
  if (s.op == ReduceKind::premul_sum) kernels::device::scale_copy(s.type, nullptr, nullptr, 0, 1, stream);
  if (s.op == ReduceKind::avg) kernels::device::combine_avg(s.type, {&nothing, 1}, nullptr, 0, divisor, stream);
  if (s.op != ReduceKind::avg || !plan.algorithm->single_combine)
    kernels::device::combine(s.type, binding.op, {&nothing, 1}, nullptr, 0, stream);
}

void DeviceBuffers::prepare_input(StreamHandle stream) {
  if (copied_ == 0) return;
  if (binding_->op.kind() == ReduceKind::premul_sum)
    kernels::device::scale_copy(plan_->signature.type, binding_->input, input_copy_.data(), copied_,
                                binding_->op.scalar(), stream);
  else
    device::required_runtime("a copy").copy(input_copy_.data(), binding_->input, copied_ * unit_, stream);
}

void DeviceBuffers::run_locals(const schedules::Round& round, StreamHandle stream) {
  device::Runtime& runtime = device::required_runtime("a copy");
  for (const Local& local : round.locals) {
    if (local.output.count == 0) continue;
    if (local.kind == Local::Kind::reduce) {
      reduce(local, stream);
      continue;
    }
    const std::byte* from = read_address(local.inputs.front());
    std::byte* to = write_address(local.output);
    if (from != to) runtime.copy(to, from, local.output.count * unit_, stream);
  }
}

void DeviceBuffers::reduce(const Local& local, StreamHandle stream) {
  std::vector<const void*> inputs(local.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = read_address(local.inputs[i]);
  std::byte* output = write_address(local.output);
  const Signature& s = plan_->signature;
  if (s.op == ReduceKind::avg && plan_->algorithm->single_combine)
    kernels::device::combine_avg(s.type, inputs, output, local.output.count, static_cast<std::size_t>(size_), stream);
  else
    kernels::device::combine(s.type, binding_->op, inputs, output, local.output.count, stream);
}

void DeviceBuffers::finish_result(StreamHandle stream) {
  const Signature& s = plan_->signature;
  if (s.op != ReduceKind::avg || !tutti::combines(s.operation)) return;
  if (size_ == 1 || plan_->algorithm->single_combine) return;
  const std::size_t count = shape().result_count();
  if (count > 0) kernels::device::divide(s.type, binding_->output, count, static_cast<std::size_t>(size_), stream);
}

void DeviceBuffers::release() noexcept {
  plan_ = nullptr;
  input_copy_.reset();
  scratch_.reset();
  signals_.reset();
}

bool DeviceBuffers::holds_blocks() const noexcept {
  return input_copy_.data() != nullptr || scratch_.data() != nullptr || signals_.data() != nullptr;
}

const std::byte* DeviceBuffers::read_address(const Slice& slice) const {
  const void* base = slice.buffer == BufferName::input    ? input_
                     : slice.buffer == BufferName::output ? binding_->output
                                                          : scratch_.data();
  return static_cast<const std::byte*>(base) + slice.offset * unit_;
}

std::byte* DeviceBuffers::write_address(const Slice& slice) const {
  void* base = slice.buffer == BufferName::output ? binding_->output : scratch_.data();
  return static_cast<std::byte*>(base) + slice.offset * unit_;
}

DeviceBuffers& retain_by_graph(std::unique_ptr<DeviceBuffers> buffers, device::StreamHandle stream) {
  const auto release = [](void* kept) { delete static_cast<DeviceBuffers*>(kept); };
  device::required_runtime("a graph").retain_by_graph(stream, release, buffers.get());
  return *buffers.release();
}

}  // namespace tutti::detail
