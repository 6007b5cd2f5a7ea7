// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "operation/binding.hpp"
#include "operation/signature.hpp"
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
/// (operation/shape.hpp). All data are read before any are written.
class ExchangeContract {
 public:
  /// The sides in rank order. Throws Fault where they do not fit together, or a rank's input and output meet in memory
  /// otherwise than in place.
  explicit ExchangeContract(std::span<const ExchangeSide> sides);

  /// For each element that a rank takes, with the elements that are combined into it, in order.
  using Visit = std::function<void(const ExchangeElement& to, std::span<const ExchangeElement> from)>;
  void for_each_element(const Visit& visit) const;

  /// The cells that an exchange touches, in runs.
  class Cells {
   public:
    void add(std::size_t cell);
    /// Before the first question, after the last cell was added.
    void sort();
    [[nodiscard]] bool meets(std::size_t begin, std::size_t count) const;
    [[nodiscard]] bool meets(const Cells& other) const;

   private:
    struct Run {
      std::size_t begin;
      std::size_t end;
    };
    std::vector<Run> runs_;
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
