// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/data/parquet.hpp"
#include "output.hpp"

namespace tutti::data {

/// Writes the files of a layout of Parquet, each of the samples of one part and one day, by the rank that has the part.
class ParquetOutput {
 public:
  /// Collective; blocking. Throws AgreedError where the folder cannot be made.
  ParquetOutput(const Communicator& comm, const OutputLayout& layout, const OutputShape& shape, const Catalog& catalog);

  /// Writes the drafts of the samples of a part, whose ids have these rows. Local.
  void write(const PartFile& part, std::size_t number, const std::vector<std::vector<std::uint32_t>>& rows);
  /// Gives the files their names, and what the sidecar says of them. Collective; blocking.
  [[nodiscard]] std::vector<miniapps::SidecarFile> finish(const Communicator& comm);

 private:
  const OutputLayout& layout_;
  const OutputShape& shape_;
  std::vector<std::uint64_t> first_samples_;
  std::vector<std::uint64_t> facts_;  ///< checksum and bytes of each file that this rank wrote, else 0
};

/// The files of a layout of Parquet: day_N_PART.parquet of each part in each day.
[[nodiscard]] std::vector<OutputFile> parquet_files(const Catalog& catalog, const std::vector<std::uint64_t>& day_ends);

}  // namespace tutti::data
