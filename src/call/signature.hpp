// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "schedules/problem.hpp"

namespace tutti::detail {

using schedules::Operation;

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
  Accumulation accumulation = Accumulation::full;
  int root = 0;
  std::size_t count = 0;  ///< uniform count; the sum of counts if all ranks know them; 0 for the other v-forms
  std::string algorithm{};

  friend bool operator==(const Signature&, const Signature&) = default;
};

struct SignatureHash {
  std::size_t operator()(const Signature& s) const noexcept {
    std::size_t h = s.count;
    const auto mix = [&h](std::size_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ULL + (h >> 29U); };
    mix(static_cast<std::size_t>(s.operation) | static_cast<std::size_t>(s.kind) << 8U |
        static_cast<std::size_t>(s.type.kind()) << 16U | static_cast<std::size_t>(s.op) << 24U |
        static_cast<std::size_t>(s.memory) << 32U | static_cast<std::size_t>(s.commutative) << 33U |
        static_cast<std::size_t>(s.reproducible) << 34U | static_cast<std::size_t>(s.accumulation) << 35U |
        static_cast<std::size_t>(s.has_timeout) << 36U);
    mix(s.type.size());
    mix(static_cast<std::size_t>(s.root));
    if (!s.algorithm.empty()) mix(std::hash<std::string_view>{}(s.algorithm));
    return h;
  }
};

}  // namespace tutti::detail
