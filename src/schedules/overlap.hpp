// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// Runs the stages of a chunk of the data beside those of other chunks: while one chunk is between the nodes, the next
/// one is on its node. Stages of one chunk follow one another; in each step all stages run, of different chunks.
class Overlap {
 public:
  /// Scratch has a part that all stages share, then a part for each stage.
  explicit Overlap(std::size_t shared) : shared_(shared) {}

  /// Adds the next chunk: as many stages as those before, each composed behind a shared part of that size.
  void add(std::vector<Schedule> stages) { chunks_.push_back(std::move(stages)); }

  [[nodiscard]] Schedule finish(bool alias_safe);

 private:
  [[nodiscard]] std::vector<std::size_t> places_of_scratch() const;
  void append_step(std::size_t step, const std::vector<std::size_t>& places, Schedule& all) const;
  [[nodiscard]] Round moved(const Round& round, std::size_t place) const;

  std::size_t shared_;
  std::vector<std::vector<Schedule>> chunks_;
};

}  // namespace tutti::schedules
