// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tutti::schedules {

/// All ordered products of contributions that come up in one check, by number. A term says which ranks are combined, in
/// which order and how associated, but not to which element they contribute: the same for long runs of elements. Two
/// terms are equal exactly where their numbers are.
class Terms {
 public:
  using Id = std::uint32_t;
  static constexpr Id nothing = 0;
  /// Adjacent ranks in rank order.
  struct Run {
    int first = 0;
    int last = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };

  explicit Terms(int size) : terms_(1) {
    for (int rank = 0; rank < size; ++rank) terms_.push_back({{{rank, rank}}, 0});
  }

  /// The contribution of one rank.
  [[nodiscard]] static Id of_rank(int rank) { return static_cast<Id>(rank) + 1; }
  /// From left to right.
  [[nodiscard]] std::span<const Run> runs(Id id) const { return terms_[id].runs; }
  /// The most reduce steps that any contribution in it went through.
  [[nodiscard]] int combines(Id id) const { return terms_[id].combines; }

  /// The product in the given order, in one reduce step.
  Id combine(const std::vector<Id>& operands) {
    const auto [known, is_new] = products_.try_emplace(operands, static_cast<Id>(terms_.size()));
    if (!is_new) return known->second;
    Term product;
    for (const Id id : operands) {
      for (const Run& run : terms_[id].runs) append(product.runs, run);
      product.combines = std::max(product.combines, terms_[id].combines);
    }
    ++product.combines;
    terms_.push_back(std::move(product));
    return known->second;
  }

 private:
  struct Term {
    std::vector<Run> runs;
    int combines = 0;
  };

  static void append(std::vector<Run>& runs, const Run& run) {
    if (!runs.empty() && runs.back().last + 1 == run.first)
      runs.back().last = run.last;
    else
      runs.push_back(run);
  }

  std::vector<Term> terms_;
  std::map<std::vector<Id>, Id> products_;
};

/// What an element of memory holds: a term of contributions to one element of the ranks' inputs. Unwritten at first.
struct Symbol {
  Terms::Id term = Terms::nothing;
  std::uint32_t element = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

}  // namespace tutti::schedules
