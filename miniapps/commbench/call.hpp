// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "point.hpp"
#include "shape.hpp"

namespace tutti::commbench {

/// One collective call with its arguments bound, to be made again and again.
class MeasuredCall {
 public:
  MeasuredCall() = default;
  virtual ~MeasuredCall() = default;
  MeasuredCall(const MeasuredCall&) = delete;
  MeasuredCall& operator=(const MeasuredCall&) = delete;

  /// The whole call, in its mode: blocking, or start and wait.
  virtual void run() = 0;
  /// Nonblocking and persistent ones in parts.
  virtual void start() = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
  /// In the place of wait(): what follows on the call's stream comes after it.
  virtual void order() { wait(); }
};

/// Addresses and shape of one call; they must stay valid as long as the MeasuredCall made of them.
struct Arguments {
  Point point{};
  World world{};
  const Shape* shape = nullptr;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  Stream stream{};  ///< of calls on device memory
  Accumulation accumulation = Accumulation::full;
  bool in_place = false;  ///< in MPI's sense, on the ranks where the operation has it; `shape` is as without
};

/// Several calls that go at once; none of them blocking.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_concurrent(std::vector<std::unique_ptr<MeasuredCall>> calls);

/// A call of Tutti, or messages by its point-to-point. `algorithm` as in tutti::Options. Collective for persistent
/// ones; throws tutti::Error.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_tutti_call(const Communicator& comm, const Arguments& arguments,
                                                            const std::string& algorithm);

/// A call of the host MPI itself, or messages by its point-to-point, on the communicator's own handle. Collective for
/// persistent ones; throws NotApplicable where this MPI has no such type, operation, count or persistent form.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_mpi_call(const Communicator& comm, const Arguments& arguments);

class RawNccl;

/// A call of NCCL itself on the arguments' stream, as a program without Tutti makes it: one collective, or a group of
/// sends and receives. Throws NotApplicable where NCCL has no such operation or type, or cannot be used.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_nccl_call(RawNccl& nccl, const Communicator& comm,
                                                           const Arguments& arguments);

}  // namespace tutti::commbench
