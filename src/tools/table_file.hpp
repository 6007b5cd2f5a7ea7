// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "planner/format.hpp"

namespace tutti::tools {

/// The file that a tuning run fills: the table of this machine and number of ranks, beside other tables, which stay
/// unchanged. Rank 0 reads and writes. A failure there is an error on all ranks. Every member is collective.
class TableFile {
 public:
  /// Takes over the measurements of an earlier run. `restart` discards them, and a file that cannot be read entirely.
  TableFile(const Communicator& comm, std::filesystem::path path, bool restart);

  /// The measurement at a place, or nullptr.
  [[nodiscard]] const detail::tuning::Cell* find(const detail::tuning::Cell& place) const;
  /// Adds or replaces a cell and writes the file, entirely or not at all.
  void put(detail::tuning::Cell cell);
  /// The same for the links.
  void put(const detail::Links& links);

 private:
  void read(bool restart);
  void take_over(std::vector<detail::tuning::Section> sections, bool others_only);
  void write();
  void write_beside_others();

  const Communicator& comm_;
  std::filesystem::path path_;
  std::vector<detail::tuning::Section> others_;
  detail::tuning::Section mine_;
};

}  // namespace tutti::tools
