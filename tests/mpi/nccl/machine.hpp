// SPDX-License-Identifier: BSD-3-Clause
// Stand-ins of CUDA and NCCL under every rank, and communicators that are prepared for them.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "backends/nccl/state.hpp"
#include "call/context.hpp"
#include "support/standin/device_arena.hpp"
#include "support/standin/nccl.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::test {

/// Made at first use, on all ranks together, and never destroyed: MPI ends before statics do.
class Machine {
 public:
  static Machine& instance() {
    static auto* only = new Machine;
    return *only;
  }

  standin::Runtime runtime{1};
  standin::Nccl nccl{runtime, version()};
  detail::device::StreamHandle stream;

  /// All work of this rank is done; broken rules show here.
  void drain() {
    runtime.run_all();
    EXPECT_EQ(runtime.forbidden_allocations(), 0U) << "memory was asked for while NCCL worked";
  }

 private:
  Machine() : stream(nullptr) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    runtime.install();
    nccl.install();
    detail::device::Uuid uuid{};
    uuid[0] = static_cast<unsigned char>(rank + 1);
    runtime.set_uuid(0, uuid);
    stream = runtime.create_stream();
  }
  /// The version of NCCL that is played: TUTTI_TEST_NCCL_VERSION.
  static int version() {
    const char* chosen = std::getenv("TUTTI_TEST_NCCL_VERSION");
    return chosen == nullptr ? 22809 : std::atoi(chosen);
  }
};

inline Machine& machine() { return Machine::instance(); }
inline Stream user_stream() { return {StreamKind::cuda, machine().stream}; }

/// The runtime lets go of what a graph retained some time after the graph's end, in a thread of its own.
inline void expect_no_graphs(const detail::nccl::Comm& comm) {
  for (int i = 0; i < 10'000 && comm.live_graphs() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(comm.live_graphs(), 0);
}

/// The text of an error that must come.
template <typename Body>
std::string failure_of(ErrorCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing failed";
  return {};
}

/// "Device" memory; made and released while nothing is under way.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) data_ = static_cast<std::byte*>(machine().runtime.allocate(MemoryKind::device, bytes));
  }
  ~DeviceMemory() {
    if (data_ != nullptr) machine().runtime.release(MemoryKind::device, data_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  /// As kernels on a stream would.
  void fill_on(detail::device::StreamHandle stream, std::vector<std::byte> content) const {
    machine().runtime.run_host(stream, [to = data_, content = std::move(content)] {
      if (!content.empty()) std::memcpy(to, content.data(), content.size());
    });
  }
  void fill(const std::vector<std::byte>& content) const {
    const standin::HostAccess access;
    if (!content.empty()) std::memcpy(data_, content.data(), content.size());
  }
  [[nodiscard]] std::vector<std::byte> content() const {
    const standin::HostAccess access;
    return {data_, data_ + bytes_};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// The communicators that a collective is tested on: all ranks, all in reverse order, and this rank's half.
inline const std::vector<Communicator>& device_communicators() {
  static const auto* all = [] {
    (void)machine();
    auto* made = new std::vector<Communicator>;
    made->push_back(Communicator::duplicate(MPI_COMM_WORLD));
    const int rank = made->front().rank();
    if (made->front().size() > 1) {
      made->push_back(made->front().split(0, -rank));
      made->push_back(made->front().split(rank % 2, rank));
    }
    for (const Communicator& comm : *made) {
      comm.prepare_device();
      EXPECT_NE(detail::nccl::state_of(*comm.state()), nullptr) << comm.device_report();
    }
    return made;
  }();
  return *all;
}

}  // namespace tutti::test
