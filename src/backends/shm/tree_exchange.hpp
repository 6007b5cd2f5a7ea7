// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "backends/shm/groups.hpp"
#include "backends/shm/transport.hpp"

namespace tutti::detail::shm {

/// The protocol `tree` where all ranks need the result and its lines have room (is_exchanged()): at each level of the
/// groups every rank reads what one rank of each other unit of its group has combined so far, and nothing goes down.
/// Between messages the field calls it recursive multiplying (Ruefenacht et al., Parallel Computing 2017), with the
/// size of a level's groups for its radix.
class TreeExchange : public Transport {
 public:
  void begin(const Exchange& exchange, std::byte* scratch);
  /// Continues as far as possible. Returns true once this rank has taken all data.
  bool step(const Exchange& exchange);
  void finish(const Exchange& exchange);
  [[nodiscard]] static bool hears_all(const Exchange& /*exchange*/) { return true; }

 private:
  [[nodiscard]] Line* lines_of_rank(const Exchange& exchange, int rank) const;
  [[nodiscard]] bool have_come(const Exchange& exchange);
  void give(const Exchange& exchange, const std::byte* data) const;
  void combine(const Exchange& exchange) const;
  [[nodiscard]] const Partners& partners() const { return (*levels_)[level_]; }
  [[nodiscard]] bool is_last() const { return level_ + 1 == levels_->size(); }

  const std::vector<Partners>* levels_ = nullptr;
  std::size_t bytes_ = 0;  ///< size of the data, in bytes
  std::size_t level_ = 0;
  std::size_t come_ = 0;  ///< partners of this level whose lines are all here
  std::size_t line_ = 0;  ///< lines already received from the next one
};

}  // namespace tutti::detail::shm
