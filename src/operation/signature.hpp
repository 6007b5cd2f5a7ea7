// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "core/hash.hpp"
#include "operation/operation.hpp"

namespace tutti::detail {

enum class CallKind : std::uint8_t { blocking, nonblocking, persistent };
enum class MemoryClass : std::uint8_t { host, device };

/// The facts of a call that are equal on all ranks. They are the key of the plan cache, and the planner sees nothing
/// else of a call.
struct Signature {
  Operation operation = Operation::barrier;
  CallKind kind = CallKind::blocking;
  MemoryClass memory = MemoryClass::host;
  Datatype type{};
  ReduceKind op = ReduceKind::sum;
  bool commutative = true;
  bool reproducible = false;
  bool has_timeout = false;
  bool is_piece = false;  ///< one of the pieces of another call, which run at once
  Accumulation accumulation = Accumulation::full;
  int root = 0;
  std::size_t count = 0;  ///< uniform count; the sum of counts if all ranks know them; 0 for the other v-forms
  std::string algorithm{};

  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Returns true if no rank can end the call before all ranks have begun it.
[[nodiscard]] constexpr bool synchronises(const Signature& s) noexcept {
  return joins_all(s.operation) && (s.operation == Operation::barrier || (s.count > 0 && s.type.size() > 0));
}

struct SignatureHash {
  std::size_t operator()(const Signature& s) const noexcept {
    Hash hash;
    hash.add(s.operation).add(s.kind).add(s.memory).add(s.type.kind()).add(s.type.size()).add(s.op);
    hash.add(s.commutative).add(s.reproducible).add(s.has_timeout).add(s.is_piece).add(s.accumulation);
    hash.add(s.root).add(s.count).add(std::string_view(s.algorithm));
    return hash.value();
  }
};

/// A digest of the facts by which a call of one rank matches those of the others, and of its protocol, which decides
/// how the others read this rank's words. Options that lead to the same protocol may differ.
[[nodiscard]] inline std::uint64_t digest_of(const Signature& s, std::uint8_t protocol) noexcept {
  Hash hash;
  hash.add(s.operation).add(s.kind).add(s.type.kind()).add(s.type.size()).add(s.op).add(s.root).add(s.count);
  return mix_bits(hash.add(protocol).value());
}

}  // namespace tutti::detail
