// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "backends/nccl/types.hpp"
#include "operation/signature.hpp"
#include "schedules/registry.hpp"

/// The ways in which NCCL makes a call: pure functions of facts that are equal on all ranks.
namespace tutti::detail::nccl {

/// An element of the library as NCCL moves or sums it: `words` words of `type`.
struct Words {
  DataType type = DataType::uint8;
  std::size_t words = 1;
  friend bool operator==(const Words&, const Words&) = default;
};

/// The words for moving data of any datatype; not longer than the alignment of its elements.
[[nodiscard]] Words words_to_move(Datatype type);

/// The type and operation for reducing inside NCCL; nothing if NCCL's result differs from the library's or NCCL lacks
/// the type or operation. Complex numbers are pairs of real numbers in sums and averages. NCCL's minimum and maximum of
/// floating-point numbers drop a NaN, and it rounds 16- and 8-bit sums at each hop, so these need
/// Accumulation::backend. Its average of floating-point numbers sums x * (1 / ranks), which is one rounding from the
/// quotient of the sum. In reproducible mode NCCL reduces nothing. premul_sum appears as `sum` here, because its
/// operation is made per communicator.
struct Reduction {
  Words words{};
  RedOp op = RedOp::sum;
  bool pre_multiplies = false;
};
[[nodiscard]] std::optional<Reduction> reduction_inside(const Signature& signature, int version);

/// Returns true if a single NCCL collective makes the whole call: "nccl:direct". barrier is an allreduce of one word.
[[nodiscard]] bool is_direct(const Signature& signature, int version);

/// The backend's number of a plan's form, where no schedule carries it.
enum class Form : std::uint8_t {
  direct = 0,  ///< one collective
  wide = 1,    ///< in float32 between kernels that widen and round
  put = 2,     ///< pieces that are put into the windows of their receivers
  told = 3,    ///< one collective, by the algorithm or the engines that the name of the way says
};

/// The ways in which NCCL can be told to make its collective of a call, from NCCL 2.31 on: the names of its algorithms
/// in `algSelection`, each of which stands for all that begin with it ("ring": ring_ll, ring_ll128 and ring_simple),
/// and zero_ctas. Empty where it makes none of the calls of that operation.
[[nodiscard]] std::span<const std::string_view> told_ways(Operation operation);
/// No thread blocks, but copy engines, where NCCL can: between devices with NVLink, into memory in windows.
inline constexpr std::string_view zero_ctas = "zero_ctas";

/// Whether NCCL would have to reduce numbers of 8 bits.
[[nodiscard]] bool reduces_float8(const Signature& signature);
/// Returns true if NCCL can reduce in float32 what is rounded once: 16-bit floats, where kernels convert them.
[[nodiscard]] bool can_widen(const Signature& signature, bool has_kernels);

/// Returns true if a schedule can run as NCCL groups of send and recv ("nccl:pairwise"), with the local work on the
/// device. Any schedule can move data. A schedule can reduce if it combines as the signature requires, device kernels
/// exist, and the operation is not a user function. Sets `why` if it cannot. Does not check whether the schedule fits
/// the number and layout of the ranks.
[[nodiscard]] bool can_group(const schedules::Algorithm& algorithm, const Signature& signature, bool has_kernels,
                             std::string& why);

/// Returns true for the v-forms that move pieces, whose ranks can put them into the windows of their receivers:
/// "nccl:put". NCCL's own collectives on windows serve the others.
[[nodiscard]] bool may_put(Operation operation);
/// The reason why a call of such an operation cannot; empty if it can. Whether its buffers lie in windows shows at the
/// _init (agree_on_puts).
[[nodiscard]] std::string why_no_puts(const Signature& signature, int version);

/// The preferred schedule for groups on a few ranks, with few rounds because each round is a launch, and for moving
/// data on any number. Every operation has one. Where many ranks reduce, costs decide.
[[nodiscard]] std::string_view preferred_algorithm(const Signature& signature, int size);
/// Returns true if so many ranks reduce that messages to each, or the network, count more than launches.
[[nodiscard]] bool is_decided_by_costs(const Signature& signature, int size, bool several_nodes);

}  // namespace tutti::detail::nccl
