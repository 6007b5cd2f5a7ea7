// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "planner/format.hpp"

namespace tutti::tools {

/// The file that a tuning run fills: the table of this machine and number of ranks, beside those of others, which stay
/// as they are. Rank 0 reads and writes; what fails there is an error on all ranks. Every member is collective.
class TableFile {
 public:
  /// Takes over what an earlier run measured; `restart` forgets it, and a file that cannot be read as a whole.
  TableFile(const Communicator& comm, std::filesystem::path path, bool restart);

  /// What was measured at a place, or nullptr.
  [[nodiscard]] const detail::tuning::Cell* find(const detail::tuning::Cell& place) const;
  /// Adds or replaces a cell and writes the file as a whole or not at all.
  void put(detail::tuning::Cell cell);

 private:
  void read(bool restart);
  void take_over(std::vector<detail::tuning::Section> sections, bool others_only);
  void write();

  const Communicator& comm_;
  std::filesystem::path path_;
  std::vector<detail::tuning::Section> others_;
  detail::tuning::Section mine_;
};

}  // namespace tutti::tools
