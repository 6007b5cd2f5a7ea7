// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "mpi/nccl/machine.hpp"
#include "support/meet.hpp"

namespace tutti::test {

inline Buffer device_buffer(const DeviceMemory& memory, Datatype type) {
  return {memory.data(), memory.size() / type.size(), type, MemoryKind::device};
}

/// A stream that goes no further until it is opened.
struct Gate {
  std::shared_ptr<std::atomic<bool>> open = std::make_shared<std::atomic<bool>>(false);
  explicit Gate(detail::device::StreamHandle stream) {
    machine().runtime.enqueue(stream, "gate", [is_open = open] { return is_open->load(); });
  }
};

inline std::vector<std::byte> ints(std::size_t count, int value) {
  std::vector<std::int32_t> data(count, value);
  std::vector<std::byte> bytes(count * sizeof(std::int32_t));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  return bytes;
}

inline int first_int(const std::vector<std::byte>& bytes) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// 1 + 2 + … + size, times a factor.
inline int sum_of_ranks(const Communicator& comm, int factor) { return factor * comm.size() * (comm.size() + 1) / 2; }

}  // namespace tutti::test
