// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

namespace tutti::commbench {

/// What the ranks settle among themselves between timed calls: only by Tutti, which never blocks in MPI, so that ranks
/// may outnumber cores.
class Team {
 public:
  explicit Team(const Communicator& comm) : comm_(comm) {}

  void meet() const;
  /// Element by element the largest of all ranks.
  void take_largest(std::vector<double>& values) const;
  [[nodiscard]] double largest(double value) const;
  [[nodiscard]] double sum(double value) const;
  /// The text of the lowest rank that has one, with that rank's number before it.
  [[nodiscard]] std::string first_text(const std::string& mine) const;
  /// The texts of all ranks, of any length.
  [[nodiscard]] std::vector<std::string> all_texts(const std::string& mine) const;

 private:
  const Communicator& comm_;
};

}  // namespace tutti::commbench
