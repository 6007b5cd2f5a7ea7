// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "backends/staged/pieces.hpp"
#include "call/context.hpp"
#include "call/execution.hpp"
#include "support/standin/device_arena.hpp"
#include "support/standin/runtime.hpp"

/// One call on device memory of the stand-in runtime, and what it must give.
namespace tutti::test {

using detail::Binding;
using detail::CallKind;
using detail::Context;
using detail::Plan;
using detail::Signature;

/// The stand-in of this process, installed.
[[nodiscard]] standin::Runtime& runtime();

/// A communicator of all ranks, or of a part, with a device: as prepare_device() would leave it, without NCCL.
[[nodiscard]] Communicator device_communicator(bool cuda_aware = false, MPI_Comm handle = MPI_COMM_WORLD);

struct Example {
  Operation operation = Operation::allreduce;
  std::size_t count = 13;
  Datatype type = DatatypeKind::int32;
  ReduceOp op = sum;
  int root = 0;
  bool in_place = false;
  [[nodiscard]] std::string describe() const;
};

/// Bytes of memory of a kind.
class Memory {
 public:
  Memory(MemoryKind kind, std::size_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  MemoryKind kind_;
  std::size_t bytes_;
  std::byte* data_;
};

/// This rank's buffers of an example in device memory, with gaps in the v-forms, and the result by the host's schedule.
class Buffers {
 public:
  Buffers(const Communicator& comm, const Example& example);

  [[nodiscard]] Signature signature(CallKind kind) const;
  [[nodiscard]] const Binding& binding() const { return device_; }
  /// Puts the contributions where they belong, at once; everything else is filled with 0xA5.
  void fill() const;
  /// What the device's memory holds, all of it.
  [[nodiscard]] std::vector<std::byte> content() const;
  [[nodiscard]] const std::vector<std::byte>& expected() const { return expected_; }
  void scribble() const;

 private:
  [[nodiscard]] Binding bind(std::byte* input, std::byte* output) const;
  void find_expected(const Communicator& comm);

  Example example_;
  int rank_;
  int size_;
  std::size_t in_bytes_ = 0;
  std::size_t out_bytes_ = 0;
  std::vector<std::byte> contribution_;
  std::vector<std::byte> expected_;
  std::shared_ptr<Memory> memory_;  ///< input, then output; in place only the output
  Binding device_{};
};

/// A staged plan in pieces of a few bytes, over the named host backend where the ranks share memory.
[[nodiscard]] std::shared_ptr<const Plan> staged_plan(const Context& comm, const Signature& signature, const char* host,
                                                      const detail::staged::Limits& limits = {});

/// How a call is made, and how its end is waited for.
enum class Way { without_stream, on_stream, nonblocking, nonblocking_on_stream, persistent };
inline constexpr Way all_ways[] = {Way::without_stream, Way::on_stream, Way::nonblocking, Way::nonblocking_on_stream,
                                   Way::persistent};
[[nodiscard]] CallKind kind_of(Way way);
[[nodiscard]] const char* way_name(Way way);

/// Makes the call by an execution from `make(stream)`, with late work before and after on the stream, and compares.
using Make = std::function<std::shared_ptr<detail::Execution>(const Stream&)>;
void check(const Buffers& buffers, Way way, const Make& make, const std::string& what);

}  // namespace tutti::test
