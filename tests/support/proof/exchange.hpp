// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "call/binding.hpp"
#include "call/signature.hpp"
#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// One rank of an exchange, and the cells at which its input and output begin.
struct ExchangeSide {
  int rank = 0;
  const Exchange& exchange;
  std::size_t input = 0;
  std::size_t output = 0;
};

/// One element of the buffer of a rank, by its place among the sides.
struct ExchangeElement {
  std::size_t place = 0;
  Slice slice{};
};

/// What an exchange on a node does: who gives what to whom, in the words of the backend that makes it
/// (backends/shm/geometry.hpp). All data are read before any are written.
class ExchangeContract {
 public:
  /// The sides in rank order. Throws Fault where they do not fit together, or a rank's input and output meet in memory
  /// otherwise than in place.
  explicit ExchangeContract(std::span<const ExchangeSide> sides);

  /// For each element that a rank takes, with the elements that are combined into it, in order.
  using Visit = std::function<void(const ExchangeElement& to, std::span<const ExchangeElement> from)>;
  void for_each_element(const Visit& visit) const;

  /// The cells that an exchange touches.
  class Cells {
   public:
    void add(std::size_t cell) { cells_.insert(cell); }
    [[nodiscard]] bool meets(std::size_t begin, std::size_t count) const {
      const auto found = cells_.lower_bound(begin);
      return found != cells_.end() && *found < begin + count;
    }
    [[nodiscard]] bool meets(const Cells& other) const {
      return std::ranges::any_of(cells_, [&](std::size_t cell) { return other.cells_.contains(cell); });
    }

   private:
    std::set<std::size_t> cells_;
  };
  [[nodiscard]] const Cells& read(std::size_t place) const { return read_[place]; }
  [[nodiscard]] const Cells& written(std::size_t place) const { return written_[place]; }

 private:
  void combine(int to, const Visit& visit) const;
  void move(int from, int to, const Visit& visit) const;
  void find_cells();
  void check_memory() const;
  [[nodiscard]] bool keeps_own() const;
  [[nodiscard]] ExchangeElement given_by(std::size_t place, std::size_t index) const;
  [[nodiscard]] ExchangeElement taken_by(std::size_t place, std::size_t index) const;

  std::span<const ExchangeSide> sides_;
  std::vector<detail::Signature> signatures_;
  std::vector<detail::Binding> bindings_;
  std::vector<Cells> read_;
  std::vector<Cells> written_;
};

}  // namespace tutti::schedules
