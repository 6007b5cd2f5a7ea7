// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "backends/shm/groups.hpp"
#include "backends/shm/transport.hpp"

namespace tutti::detail::shm {

/// The protocol `tree`: contributions go up the groups of the ranks (groups.hpp), and the result goes down, in lines as
/// those of Lines. A rank reads the lines of its groups alone, however many ranks there are. Every leader has work to
/// do until its whole group has arrived, so no rank may be away.
class Tree : public Transport {
 public:
  void begin(const Exchange& exchange, std::byte* scratch);
  /// Continues as far as possible. Returns true once this rank has taken and passed on all data.
  bool step(const Exchange& exchange);

 private:
  enum class Sweep : std::uint8_t { up, down, done };

  [[nodiscard]] bool have_children_arrived(const Exchange& exchange);
  void pass_up(const Exchange& exchange);
  void combine(const Exchange& exchange, std::byte* result) const;
  /// Combines this rank's part with those of the children from `first` on that are of one level. Returns the next
  /// child.
  [[nodiscard]] std::size_t combine_level(const Exchange& exchange, std::size_t first, const std::byte* own,
                                          std::byte* result) const;
  [[nodiscard]] bool has_result_arrived(const Exchange& exchange);
  void pass_down(const Exchange& exchange);
  /// The lines of a rank for the members of its group at a level.
  [[nodiscard]] Line* lines_down(const Exchange& exchange, int rank, int level) const;

  const TreePlace* place_ = nullptr;
  std::size_t bytes_ = 0;      ///< size of the data, in bytes
  std::size_t per_level_ = 0;  ///< lines between the copies for two levels; 0: one copy serves all levels
  Sweep sweep_ = Sweep::up;
  std::size_t child_ = 0;  ///< the children before it have all their lines here
  std::size_t line_ = 0;   ///< lines already received from that child or from the parent
};

/// The lines of a cell from this one on hold what goes down; the lines before them hold what goes up.
inline constexpr std::size_t lines_up = cell_lines / 2;

}  // namespace tutti::detail::shm
