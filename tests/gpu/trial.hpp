// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commbench/call.hpp"
#include "commbench/device_timer.hpp"
#include "commbench/memory.hpp"
#include "commbench/pattern.hpp"
#include "gpu/machine.hpp"

namespace tutti::test::gpu {

using commbench::MemorySpace;
using commbench::Mode;
using commbench::Point;

/// The ranks of the test, ready for device memory.
const Communicator& device_world();

detail::device::Runtime& runtime();

/// A point with blocks, or a vector, of `count` elements.
Point point_of(Operation operation, Datatype type, std::optional<ReduceKind> op, std::size_t count, int ranks);

/// The sum, for operations that combine.
std::optional<ReduceKind> sum_of(Operation operation);

/// How a call is made.
struct Form {
  Mode mode = Mode::blocking;
  bool streamed = true;  ///< copies before and behind it are on its stream, and nobody waits between
  bool in_place = false;
};

/// One call on device memory. Its data come from the host by copies, and its results go back by copies, and are
/// compared with what they must be and with what the same call gives in host memory.
class Trial {
 public:
  Trial(const Communicator& comm, const Point& point, const Form& form, const std::string& algorithm = {});

  /// On new data; what is wrong, empty where nothing is.
  [[nodiscard]] std::string run(std::uint64_t iteration);

 private:
  [[nodiscard]] bool works_in_place() const;
  void make_data(std::uint64_t iteration);
  void put_contribution_into_recv();
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
  void delay() const;
  void run_streamed();
  void run_and_wait();
  [[nodiscard]] std::string fault(const std::byte* got, const char* where, std::uint64_t iteration) const;
  [[nodiscard]] bool is_rounded_otherwise() const;
  [[nodiscard]] std::vector<std::byte> host_result();
  [[nodiscard]] std::string host_fault(std::uint64_t iteration);
  [[nodiscard]] std::string near_fault(std::uint64_t iteration);

  const Communicator& comm_;
  Point point_;
  Form form_;
  std::string algorithm_;
  commbench::World world_;
  commbench::Shape shape_;
  commbench::Pattern pattern_;
  std::size_t send_bytes_;
  std::size_t recv_bytes_;
  DeviceStream stream_;
  commbench::Memory send_;
  commbench::Memory recv_;
  commbench::Memory host_send_;
  commbench::Memory host_recv_;
  std::unique_ptr<commbench::MeasuredCall> call_;
};

}  // namespace tutti::test::gpu
