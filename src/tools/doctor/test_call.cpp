// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/test_call.hpp"

#include <cstring>
#include <thread>
#include <tutti/tutti.hpp>

#include "device/runtime.hpp"

namespace tutti::tools::doctor {
namespace {

/// Copies to or from device memory, and waits.
void copy_device(void* to, const void* from, std::size_t bytes) {
  detail::device::Runtime& runtime = detail::device::required_runtime("tutti doctor");
  runtime.copy(to, from, bytes, nullptr);
  detail::device::EventHandle done = runtime.create_event();
  runtime.record(done, nullptr);
  while (!runtime.is_complete(done)) std::this_thread::yield();
  runtime.destroy_event(done);
}

}  // namespace

TestMemory::TestMemory(std::size_t bytes, MemoryKind kind)
    : kind_(kind), host_(kind == MemoryKind::host ? bytes : 0), bytes_(bytes), data_(host_.data()) {
  if (kind_ != MemoryKind::host) data_ = detail::device::required_runtime("tutti doctor").allocate(kind_, bytes_);
}

TestMemory::~TestMemory() {
  if (kind_ != MemoryKind::host) detail::device::runtime()->release(kind_, data_);
}

void TestMemory::write(const std::vector<std::byte>& from) {
  if (kind_ == MemoryKind::host)
    std::memcpy(data_, from.data(), bytes_);
  else
    copy_device(data_, from.data(), bytes_);
}

std::vector<std::byte> TestMemory::read() const {
  if (kind_ == MemoryKind::host) return host_;
  std::vector<std::byte> found(bytes_);
  copy_device(found.data(), data_, bytes_);
  return found;
}

TestCall::TestCall(const Communicator& comm, const Trial& trial, const std::string& way, MemoryKind kind)
    : comm_(comm), trial_(trial), input_(input_bytes(trial), kind), output_(output_bytes(trial), kind) {
  options_.algorithm = way;
  options_.memory = kind;
}

void TestCall::fill() {
  input_.write(input_of(trial_));
  output_.write(output_before(trial_));
}

void TestCall::run() {
  constexpr int root = 0;
  constexpr int tag = 7;
  constexpr DatatypeKind type = DatatypeKind::uint8;
  const ConstBuffer input(input_.data(), input_bytes(trial_), type);
  const Buffer output(output_.data(), output_bytes(trial_), type);
  const auto numbers = trial_.bytes / sizeof(float);
  switch (trial_.call) {
    case Call::allreduce:
      allreduce(comm_, ConstBuffer(input_.data(), numbers, DatatypeKind::float32),
                Buffer(output_.data(), numbers, DatatypeKind::float32), ReduceKind::sum, options_);
      break;
    case Call::bcast:
      bcast(comm_, output, root, options_);
      break;
    case Call::alltoall:
      alltoall(comm_, input, output, options_);
      break;
    case Call::allgather:
      allgather(comm_, input, output, options_);
      break;
    default:  // sendrecv
      sendrecv(comm_, input, (trial_.rank + 1) % trial_.ranks, tag, output,
               (trial_.rank + trial_.ranks - 1) % trial_.ranks, tag, options_);
      break;
  }
}

std::string TestCall::fault() const { return difference(output_.read(), output_after(trial_)); }

}  // namespace tutti::tools::doctor
