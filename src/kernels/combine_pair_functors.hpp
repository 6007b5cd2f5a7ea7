// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "kernels/combine_functors.hpp"

namespace tutti::kernels {

/// The order of values in minloc and maxloc. -0 and +0 are equal here (the index decides), unlike in min and max.
template <typename V, bool Max, bool Integer = std::is_integral_v<V>>
struct ValueOrder : OrderKey<V, Max> {
  using typename OrderKey<V, Max>::Key;
  TUTTI_FUNCTION static Key rank(Key key) { return key == OrderKey<V, Max>::minus_zero ? 0 : key; }
};

template <typename V, bool Max>
struct ValueOrder<V, Max, true> {
  using Key = V;
  TUTTI_FUNCTION static V encode(V x) { return x; }
  TUTTI_FUNCTION static V decode(V key) { return key; }
  TUTTI_FUNCTION static V rank(V key) { return key; }
};

/// minloc and maxloc choose the better value, then the lower index. The sign of a zero decides last, so that the bits
/// do not depend on the order of the operands. A NaN is better than any number. Padding bytes are written as zero.
template <typename V, typename I, bool Max>
struct LocationFunctor {
  using Value = ValueIndex<V, I>;
  using Order = ValueOrder<V, Max>;
  using Key = typename Order::Key;
  struct Acc {
    Key key;
    I index;
  };

  TUTTI_FUNCTION Acc load(const Value& x) const { return {Order::encode(x.value), x.index}; }

  TUTTI_FUNCTION static bool precedes(const Acc& a, const Acc& b) {
    const Key rank_a = Order::rank(a.key);
    const Key rank_b = Order::rank(b.key);
    if (rank_a != rank_b) return Max ? rank_a > rank_b : rank_a < rank_b;
    if (a.index != b.index) return a.index < b.index;
    return a.key <= b.key;
  }
  TUTTI_FUNCTION Acc join(const Acc& a, const Acc& b) const { return precedes(a, b) ? a : b; }

  TUTTI_FUNCTION void store(Value* target, const Acc& a) const {
    const Acc kept = a;
    if constexpr (sizeof(Value) != sizeof(V) + sizeof(I))
      __builtin_memset(static_cast<void*>(target), 0, sizeof(Value));
    target->value = Order::decode(kept.key);
    target->index = kept.index;
  }
};

/// Writes a finished element.
template <typename Functor>
TUTTI_FUNCTION void store(const Functor& functor, typename Functor::Value* target, const typename Functor::Acc& acc) {
  if constexpr (requires { functor.store(target, acc); }) {
    functor.store(target, acc);
  } else {
    *target = functor.finish(acc);
  }
}

}  // namespace tutti::kernels
