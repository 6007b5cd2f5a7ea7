// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/exchange.hpp"

#include <cstring>

#include "backends/shm/agreement.hpp"
#include "call/schedule_rules.hpp"
#include "core/hash.hpp"
#include "kernels/combine.hpp"
#include "kernels/copy.hpp"

namespace tutti::detail::shm {

std::uint64_t Exchange::digest_of_counts() const {
  Hash hash;
  for (const std::size_t count : binding->recv_counts) hash.add(count);
  return mix_bits(hash.value());
}

void Exchange::copy_own() const {
  const Shape who = shape();
  const int me = who.rank();
  if (!who.has_own_block()) return;
  const Block from = who.given(me);
  if (from.count != who.taken(me).count)
    throw_sizes_differ(*this, me, me, from.count * unit(), who.taken(me).count * unit());
  const std::byte* own = source + from.offset * unit();
  std::byte* to = output() + who.taken(me).offset * unit();
  if (from.count > 0 && own != to) kernels::copy_buffer(to, own, from.count * unit());
}

void Exchange::combine(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const {
  const Datatype type = plan->signature.type;
  if (inputs.size() == 1) {
    // A single contribution is copied unchanged, because a logical operation would turn 2 into 1.
    if (result != inputs[0]) kernels::copy(result, inputs[0], bytes);
    return;
  }
  const std::size_t divisor = plan->signature.op == ReduceKind::avg ? static_cast<std::size_t>(arena->size()) : 1;
  if (sums_exactly(plan->signature))
    kernels::combine_exactly(type, inputs, result, elements(bytes), divisor);
  else if (plan->signature.op == ReduceKind::avg)
    kernels::combine_avg(type, inputs, result, elements(bytes), divisor);
  else
    kernels::combine(type, binding->op, inputs, result, elements(bytes));
}

void Exchange::combine_part(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const {
  kernels::combine(plan->signature.type, binding->op, inputs, result, elements(bytes));
}

}  // namespace tutti::detail::shm
