// SPDX-License-Identifier: BSD-3-Clause
#include "team.hpp"

#include <array>
#include <tutti/tutti.hpp>

#include "counts.hpp"

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

std::vector<std::string> Team::all_texts(const std::string& mine) const {
  Counts lengths(static_cast<std::size_t>(comm_.size()));
  const std::size_t length = mine.size();
  tutti::allgather(comm_, ConstBuffer(&length, 1), Buffer(lengths.data(), lengths.size()));
  const Counts begins = starts_of(lengths);
  std::vector<std::uint8_t> joined(sum_of(lengths));
  const std::vector<std::uint8_t> bytes(mine.begin(), mine.end());
  tutti::allgatherv(comm_, ConstBuffer(bytes.data(), bytes.size()), Buffer(joined.data(), joined.size()), lengths,
                    begins);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    texts.emplace_back(joined.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                       joined.begin() + static_cast<std::ptrdiff_t>(begins[i] + lengths[i]));
  return texts;
}

}  // namespace tutti::commbench
