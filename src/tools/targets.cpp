// SPDX-License-Identifier: BSD-3-Clause
#include "tools/targets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "planner/names.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail::tuning {
namespace {

std::size_t blocks_of(Operation operation, int ranks) {
  return has_equal_blocks(operation) || has_hidden_size(operation) ? static_cast<std::size_t>(ranks) : 1;
}

std::vector<std::size_t> sizes_of(const Scope& scope, Operation operation, int ranks) {
  if (operation == Operation::barrier || has_hidden_size(operation)) return {0};
  return sizes_of(scope, blocks_of(operation, ranks));
}

void add_pass(std::vector<Target>& targets, const Scope& scope, CallKind kind, int ranks, std::size_t pass) {
  for (const Operation operation : scope.operations) {
    const std::vector<std::size_t> sizes = sizes_of(scope, operation, ranks);
    const auto types = combines(operation) ? scope.types : std::vector<Datatype>{Datatype{}};
    for (const Datatype type : types)
      for (std::size_t i = pass; i < sizes.size(); i += 2)
        if (sizes[i] == 0 || sizes[i] % type.size() == 0)
          targets.push_back({.operation = operation, .kind = kind, .type = type, .bytes = sizes[i]});
  }
}

}  // namespace

std::vector<std::size_t> sizes_of(const Scope& scope, std::size_t blocks) {
  if (!scope.sizes.empty()) return scope.sizes;
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = scope.smallest; bytes * blocks <= scope.largest; bytes *= scope.factor)
    sizes.push_back(bytes);
  return sizes;
}

std::size_t buffer_bytes(const Target& target, int ranks) { return target.bytes * blocks_of(target.operation, ranks); }

std::vector<Operation> operations_by_importance() {
  using enum Operation;
  std::vector<Operation> order{allreduce, alltoall, alltoallv, allgather, bcast, reduce_scatter_block, reduce, barrier};
  std::vector<Operation> rest(all_operations.begin(), all_operations.end());
  std::erase_if(rest, [&](Operation one) { return std::find(order.begin(), order.end(), one) != order.end(); });
  // Prefixes come last.
  std::stable_partition(rest.begin(), rest.end(), [](Operation one) { return !is_prefix(one); });
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

std::vector<Target> targets_of(const Scope& scope, int ranks) {
  std::vector<Target> targets;
  for (const std::size_t pass : {0U, 1U})
    for (const CallKind kind : scope.kinds) add_pass(targets, scope, kind, ranks, pass);
  return targets;
}

ReduceKind combination_for(Datatype type) {
  for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::minloc})
    if (is_defined(kind, type.kind())) return kind;
  return ReduceKind::lor;
}

Signature signature_of(const Target& target) {
  Signature signature;
  signature.operation = target.operation;
  signature.kind = target.kind;
  signature.type = target.type;
  if (combines(target.operation)) signature.op = op_of(target);
  signature.root = target.root;
  signature.count = target.bytes / target.type.size();
  return signature;
}

Cell place_of(const Target& target) {
  Cell cell;
  cell.operation = target.operation;
  cell.kind = target.kind;
  cell.type = type_class_of(signature_of(target));
  cell.bytes = target.bytes;
  return cell;
}

std::string describe(const Target& target) {
  std::string text(operation_name(target.operation));
  if (combines(target.operation)) text += fmt::format(" {}", datatype_name(target.type.kind()));
  text += fmt::format(" {}", call_kind_name(target.kind));
  if (target.bytes != 0) text += fmt::format(" {} B", target.bytes);
  return text;
}

}  // namespace tutti::detail::tuning
