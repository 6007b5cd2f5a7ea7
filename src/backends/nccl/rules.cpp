// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/rules.hpp"

#include "call/schedule_rules.hpp"

#include <fmt/format.h>

namespace tutti::detail::nccl {
namespace {

/// The number types that NCCL reduces; a complex number as two real numbers.
std::optional<Words> words_to_reduce(DatatypeKind kind, int version) {
  switch (kind) {
    case DatatypeKind::int8:
      return Words{DataType::int8, 1};
    case DatatypeKind::uint8:
      return Words{DataType::uint8, 1};
    case DatatypeKind::int32:
      return Words{DataType::int32, 1};
    case DatatypeKind::uint32:
      return Words{DataType::uint32, 1};
    case DatatypeKind::int64:
      return Words{DataType::int64, 1};
    case DatatypeKind::uint64:
      return Words{DataType::uint64, 1};
    case DatatypeKind::float16:
      return Words{DataType::float16, 1};
    case DatatypeKind::bfloat16:
      return Words{DataType::bfloat16, 1};
    case DatatypeKind::float32:
      return Words{DataType::float32, 1};
    case DatatypeKind::float64:
      return Words{DataType::float64, 1};
    case DatatypeKind::complex64:
      return Words{DataType::float32, 2};
    case DatatypeKind::complex128:
      return Words{DataType::float64, 2};
    case DatatypeKind::float8_e4m3:
      if (version >= version_of_float8) return Words{DataType::float8_e4m3, 1};
      return std::nullopt;
    case DatatypeKind::float8_e5m2:
      if (version >= version_of_float8) return Words{DataType::float8_e5m2, 1};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<RedOp> op_inside(ReduceKind op) {
  switch (op) {
    case ReduceKind::sum:
    case ReduceKind::premul_sum:
      return RedOp::sum;
    case ReduceKind::prod:
      return RedOp::prod;
    case ReduceKind::min:
      return RedOp::min;
    case ReduceKind::max:
      return RedOp::max;
    case ReduceKind::avg:
      return RedOp::avg;
    default:
      return std::nullopt;
  }
}

bool is_small_float(DataType type) {
  return type == DataType::float16 || type == DataType::bfloat16 || type == DataType::float8_e4m3 ||
         type == DataType::float8_e5m2;
}

bool is_float(DataType type) { return is_small_float(type) || type == DataType::float32 || type == DataType::float64; }

/// Returns true if the library requires more than NCCL's arithmetic guarantees.
bool differs(RedOp op, DataType type) {
  return is_small_float(type) || (is_float(type) && (op == RedOp::min || op == RedOp::max));
}

std::size_t alignment_of(Datatype type) {
  switch (type.kind()) {
    case DatatypeKind::bytes:
      return 1;
    case DatatypeKind::complex64:
    case DatatypeKind::float32_int32:
    case DatatypeKind::int32_int32:
    case DatatypeKind::float32_float32:
      return 4;
    default:
      return type.size() < 8 ? type.size() : 8;
  }
}

/// Returns true for a vector that every rank can send to every other in about the time of one more launch.
bool is_small(const Signature& signature, int size) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20U;
  constexpr int most_ranks = 16;
  const std::size_t all = signature.type.size() * static_cast<std::size_t>(size);
  return size <= most_ranks && signature.count <= most_bytes / all;
}

}  // namespace

Words words_to_move(Datatype type) {
  const std::size_t width = alignment_of(type);
  const DataType word = width == 8   ? DataType::uint64
                        : width == 4 ? DataType::uint32
                        : width == 2 ? DataType::float16
                                     : DataType::uint8;
  return {word, type.size() / width};
}

std::optional<Reduction> reduction_inside(const Signature& signature, int version) {
  if (signature.reproducible || sums_exactly(signature) || !is_defined(signature.op, signature.type.kind()))
    return std::nullopt;
  const auto words = words_to_reduce(signature.type.kind(), version);
  const auto op = op_inside(signature.op);
  if (!words || !op) return std::nullopt;
  if (words->words == 2 && *op != RedOp::sum && *op != RedOp::avg) return std::nullopt;
  if (signature.accumulation != Accumulation::backend && differs(*op, words->type)) return std::nullopt;
  return Reduction{*words, *op, signature.op == ReduceKind::premul_sum};
}

bool is_direct(const Signature& signature, int version) {
  switch (signature.operation) {
    case Operation::barrier:
    case Operation::bcast:
    case Operation::allgather:
      return true;
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter_block:
      return reduction_inside(signature, version).has_value();
    case Operation::alltoall:
    case Operation::gather:
    case Operation::scatter:
      return version >= version_of_alltoall;
    default:
      return false;
  }
}

/// As NCCL 2.32 has them. What it cannot do with the devices at hand it refuses at the call.
std::span<const std::string_view> told_ways(Operation operation) {
  static constexpr std::string_view allreduce[] = {
      "ring",        "ring_ll",        "ring_ll128",    "ring_simple", "tree",        "tree_ll",  "tree_ll128",
      "tree_simple", "collnet_direct", "collnet_chain", "nvls",        "nvls_simple", "nvlstree", "symk"};
  static constexpr std::string_view gathering[] = {"ring", "ring_ll", "ring_ll128", "ring_simple", "collnet_direct",
                                                   "nvls", "pat",     "symk",       zero_ctas};
  static constexpr std::string_view rings[] = {"ring", "ring_ll", "ring_ll128", "ring_simple"};
  static constexpr std::string_view copies[] = {zero_ctas};
  switch (operation) {
    case Operation::allreduce:
      return allreduce;
    case Operation::allgather:
      return gathering;
    case Operation::reduce_scatter_block:
      return std::span(gathering).first(std::size(gathering) - 1);
    case Operation::bcast:
    case Operation::reduce:
      return rings;
    case Operation::alltoall:
    case Operation::gather:
    case Operation::scatter:
      return copies;
    default:
      return {};
  }
}

bool reduces_float8(const Signature& signature) {
  return tutti::combines(signature.operation) &&
         (signature.type == DatatypeKind::float8_e4m3 || signature.type == DatatypeKind::float8_e5m2);
}

bool can_widen(const Signature& signature, bool has_kernels) {
  const DatatypeKind type = signature.type.kind();
  const bool is_rounded_once =
      signature.accumulation != Accumulation::backend && !signature.reproducible && !sums_exactly(signature);
  const bool is_narrow = type == DatatypeKind::float16 || type == DatatypeKind::bfloat16;
  const bool is_sum_or_product = signature.op == ReduceKind::sum || signature.op == ReduceKind::avg ||
                                 signature.op == ReduceKind::premul_sum || signature.op == ReduceKind::prod;
  const bool is_one_of_nccl = signature.operation == Operation::allreduce || signature.operation == Operation::reduce ||
                              signature.operation == Operation::reduce_scatter_block;
  return has_kernels && is_rounded_once && is_narrow && is_sum_or_product && is_one_of_nccl;
}

bool may_put(Operation operation) { return is_varying(operation); }

std::string why_no_puts(const Signature& signature, int version) {
  if (signature.kind != CallKind::persistent)
    return "only persistent calls put: the ranks tell their places at the _init";
  if (version < version_of_puts) return "puts need NCCL 2.30";
  return {};
}

bool is_decided_by_costs(const Signature& signature, int size, bool several_nodes) {
  constexpr int few_ranks = 16;
  return tutti::combines(signature.operation) && (size > few_ranks || several_nodes);
}

bool can_group(const schedules::Algorithm& algorithm, const Signature& signature, bool has_kernels, std::string& why) {
  why.clear();
  if (!tutti::combines(signature.operation)) return true;
  if (signature.op == ReduceKind::user)
    why = "a user's function runs on the host";
  else if (!has_kernels)
    why = "on some rank this build has no kernels for the device";
  else if (needs_single_combine(signature) && !(algorithm.single_combine && algorithm.ordered))
    why = "combines in several steps, but this call requires one rounding in rank order";
  else if (!signature.commutative && !algorithm.ordered)
    why = "does not keep rank order, which an operation that does not commute requires";
  return why.empty();
}

std::string_view preferred_algorithm(const Signature& signature, int size) {
  const bool is_short = is_small(signature, size);
  switch (signature.operation) {
    case Operation::barrier:
      return "dissemination";
    case Operation::bcast:
      return is_short ? "linear" : "scatter_allgather";
    case Operation::allreduce:
      return is_short ? "direct" : "scatter_allgather";
    case Operation::reduce:
      return is_short ? "direct" : "scatter_gather";
    default:
      if (has_root(signature.operation)) return "linear";
      if (!is_prefix(signature.operation)) return "direct";
      return !needs_single_combine(signature) && !is_short ? "recursive_doubling" : "direct";
  }
}

}  // namespace tutti::detail::nccl
