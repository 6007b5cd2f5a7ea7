// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::algorithms {

/// An ordered product of contributions of ranks to one element: runs of adjacent ranks from left to right.
struct Symbol {
  struct Run {
    int first;
    int last;
  };
  std::size_t element = 0;
  std::vector<Run> runs;
  int combines = 0;        ///< most reduce steps that any contribution went through
  std::uint64_t tree = 0;  ///< equal where the association of the operands is equal
};

/// All symbols of one check; cells hold their numbers. Number 0 is memory that was never written.
class Symbols {
 public:
  using Id = std::uint32_t;
  static constexpr Id unwritten = 0;

  Symbols() : all_(1) {}
  [[nodiscard]] const Symbol& operator[](Id id) const { return all_[id]; }

  Id contribution(int rank, std::size_t element) {
    all_.push_back({element, {{rank, rank}}, 0, mix(0, static_cast<std::uint64_t>(rank) + 1)});
    return static_cast<Id>(all_.size() - 1);
  }

  /// The product in the given order, or `unwritten` where the operands are of different elements.
  Id combine(std::span<const Id> operands) {
    Symbol result{all_[operands.front()].element, {}, 0, operands.size()};
    for (const Id id : operands) {
      const Symbol& operand = all_[id];
      if (operand.element != result.element) return unwritten;
      for (const Symbol::Run& run : operand.runs) append(result.runs, run);
      result.combines = result.combines > operand.combines ? result.combines : operand.combines;
      result.tree = mix(result.tree, operand.tree);
    }
    ++result.combines;
    all_.push_back(std::move(result));
    return static_cast<Id>(all_.size() - 1);
  }

 private:
  static void append(std::vector<Symbol::Run>& runs, const Symbol::Run& run) {
    if (!runs.empty() && runs.back().last + 1 == run.first)
      runs.back().last = run.last;
    else
      runs.push_back(run);
  }
  static std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 29U);
  }

  std::vector<Symbol> all_;
};

}  // namespace tutti::algorithms
