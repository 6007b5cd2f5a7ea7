// SPDX-License-Identifier: BSD-3-Clause
#include "call/node_call.hpp"

namespace tutti::detail {
namespace {

/// Where the data that a rank keeps lie in place: the distance of the output's begin from the input's, in elements.
std::ptrdiff_t distance_in_place(const schedules::Exchange& exchange, int place) {
  const auto own = static_cast<std::size_t>(place);
  const auto block = static_cast<std::ptrdiff_t>(own * exchange.count);
  const OperationTraits& row = traits_of(exchange.operation);
  if (row.given == BlockKind::one && row.taken == BlockKind::each) return -block;
  if (row.given == BlockKind::each && row.in_place == InPlaceSide::recv) return block;
  if (row.given == row.taken) return 0;
  if (!exchange.recv_displs.empty()) return -static_cast<std::ptrdiff_t>(exchange.recv_displs[own]);
  if (!exchange.send_displs.empty()) return static_cast<std::ptrdiff_t>(exchange.send_displs[own]);
  return 0;
}

}  // namespace

bool uses_input(const schedules::Exchange& exchange, int place) {
  return has_input(exchange.operation, place == exchange.root);
}

bool uses_output(const schedules::Exchange& exchange, int place) {
  return has_output(exchange.operation, place == exchange.root);
}

Signature node_signature(const schedules::Exchange& exchange, const Signature& whole) {
  Signature signature;
  signature.operation = exchange.operation;
  signature.type = whole.type;
  signature.has_timeout = whole.has_timeout;
  signature.root = has_root(exchange.operation) ? exchange.root : 0;
  signature.count = has_hidden_size(exchange.operation) ? 0 : exchange.count;
  if (!combines(exchange.operation)) return signature;
  const bool is_sum = whole.op == ReduceKind::avg || whole.op == ReduceKind::premul_sum;
  signature.op = is_sum ? ReduceKind::sum : whole.op;
  signature.commutative = whole.commutative;
  signature.accumulation = whole.accumulation;
  return signature;
}

Binding node_binding(const schedules::Exchange& exchange, int place, const std::byte* input, std::byte* output,
                     std::size_t unit) {
  Binding binding;
  binding.input = uses_input(exchange, place) ? input : nullptr;
  binding.output = uses_output(exchange, place) ? output : nullptr;
  const auto distance = distance_in_place(exchange, place) * static_cast<std::ptrdiff_t>(unit);
  binding.in_place = uses_input(exchange, place) && uses_output(exchange, place) && output - input == distance;
  binding.send_count = exchange.send_count;
  binding.recv_count = exchange.recv_count;
  binding.send_counts = exchange.send_counts;
  binding.send_displs = exchange.send_displs;
  binding.recv_counts = exchange.recv_counts;
  binding.recv_displs = exchange.recv_displs;
  return binding;
}

}  // namespace tutti::detail
