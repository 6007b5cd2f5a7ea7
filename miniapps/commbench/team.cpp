// SPDX-License-Identifier: BSD-3-Clause
#include "team.hpp"

#include <array>
#include <tutti/tutti.hpp>

namespace tutti::commbench {

void Team::meet() const { tutti::barrier(comm_); }

void Team::take_largest(std::vector<double>& values) const { tutti::allreduce(comm_, values, tutti::max); }

double Team::largest(double value) const {
  tutti::allreduce(comm_, &value, 1, tutti::max);
  return value;
}

double Team::sum(double value) const {
  tutti::allreduce(comm_, &value, 1, tutti::sum);
  return value;
}

std::string Team::first_text(const std::string& mine) const {
  int owner = mine.empty() ? comm_.size() : comm_.rank();
  tutti::allreduce(comm_, &owner, 1, tutti::min);
  if (owner == comm_.size()) return {};
  std::array<char, 512> text{};
  mine.copy(text.data(), text.size() - 1);
  tutti::bcast(comm_, text, owner);
  return "rank " + std::to_string(owner) + ": " + text.data();
}

}  // namespace tutti::commbench
