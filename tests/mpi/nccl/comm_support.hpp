// SPDX-License-Identifier: BSD-3-Clause
// Raw use of nccl::Comm on the stand-ins, below the executions.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/launcher.hpp"
#include "call/progress.hpp"
#include "device/traffic.hpp"
#include "mpi/nccl/machine.hpp"

namespace tutti::test {

using namespace std::chrono_literals;
using detail::nccl::Comm;
using detail::nccl::DataType;
using detail::nccl::RedOp;
using detail::nccl::Result;

inline std::unique_ptr<Comm> make_comm(const Communicator& over, std::string& why,
                                       std::chrono::nanoseconds timeout = 30s) {
  return Comm::create(*over.state(), machine().nccl.table(), 0, {timeout, timeout}, why);
}

inline std::unique_ptr<Comm> make_comm(const Communicator& over) {
  std::string why;
  auto made = make_comm(over, why);
  EXPECT_NE(made, nullptr) << why;
  return made;
}

inline detail::device::LaunchMutex& launch_mutex() { return detail::device::Traffic::of(0).launch_mutex(); }

/// A "device" array of one value an element.
class Floats {
 public:
  explicit Floats(std::size_t count, float value = 0) : memory_(count * sizeof(float)), count_(count) { set(value); }
  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  void set(float value) const {
    const standin::HostAccess access;
    std::fill_n(data(), count_, value);
  }
  [[nodiscard]] float first() const {
    const standin::HostAccess access;
    return *data();
  }
  [[nodiscard]] bool all_are(float value) const {
    const standin::HostAccess access;
    return std::all_of(data(), data() + count_, [&](float x) { return x == value; });
  }

 private:
  DeviceMemory memory_;
  std::size_t count_;
};

inline void launch_sum(Comm& comm, const Floats& data, RedOp op = RedOp::sum, std::chrono::nanoseconds timeout = 30s) {
  const std::lock_guard lock(launch_mutex());
  const auto launch = [&] {
    comm.check(comm.table().all_reduce(data.data(), data.data(), data.size(), DataType::float32, op, comm.handle(),
                                       machine().stream),
               "ncclAllReduce", timeout);
  };
  if (comm.is_blocking())
    comm.await(*detail::nccl::Launcher::of(0).begin(launch), "ncclAllReduce", timeout);
  else
    launch();
}

/// The sum over all ranks of rank + 1.
inline float sum_of(const Communicator& comm) { return static_cast<float>(comm.size() * (comm.size() + 1) / 2); }

inline void expect_works(Comm& comm, const Communicator& over) {
  const Floats data(1000, static_cast<float>(over.rank() + 1));
  launch_sum(comm, data);
  machine().drain();
  EXPECT_TRUE(data.all_are(sum_of(over))) << data.first();
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tutti::test
