// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "backends/nccl/types.hpp"
#include "call/signature.hpp"
#include "schedules/registry.hpp"

/// How NCCL makes a call: pure functions of facts that are equal on all ranks.
namespace tutti::detail::nccl {

/// An element of the library as NCCL moves or sums it: `words` of `type`.
struct Words {
  DataType type = DataType::uint8;
  std::size_t words = 1;
  friend bool operator==(const Words&, const Words&) = default;
};

/// For moving data: any datatype. Words no longer than the alignment that its elements have.
[[nodiscard]] Words words_to_move(Datatype type);

/// For reducing inside NCCL: nothing where NCCL's result is not the library's or NCCL has no such type or operation.
/// Complex numbers are pairs of real ones in sums and averages. NCCL's minimum and maximum of floating-point numbers
/// drop a NaN, and it rounds sums of 16 and 8 bits at each hop: these only with Accumulation::backend. Its average of
/// floating-point numbers sums x * (1 / ranks), one rounding from the sum's quotient. In the reproducible mode NCCL
/// reduces nothing. premul_sum is `sum` here: its operation is made for a communicator.
struct Reduction {
  Words words{};
  RedOp op = RedOp::sum;
  bool pre_multiplies = false;
};
[[nodiscard]] std::optional<Reduction> reduction_inside(const Signature& signature, int version);

/// Whether one NCCL collective is the whole call: "nccl:direct". barrier is an allreduce of one word.
[[nodiscard]] bool is_direct(const Signature& signature, int version);

/// Whether a schedule can be run as NCCL groups of send and recv ("nccl:pairwise"), with the local work on the device:
/// any for moving data; for reductions those that combine as the signature asks, where there are device kernels and the
/// operation is no user function. `why` is set where it cannot. Whether it fits the number and the layout of the ranks
/// is asked elsewhere.
[[nodiscard]] bool can_group(const schedules::Algorithm& algorithm, const Signature& signature, bool has_kernels,
                             std::string& why);

/// The schedule that is preferred for groups: few rounds, since each is a launch. Every operation has one.
[[nodiscard]] std::string_view preferred_algorithm(const Signature& signature, int size);

}  // namespace tutti::detail::nccl
