// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "catalog.hpp"
#include "common/data/parquet_set.hpp"
#include "output.hpp"

namespace tutti::data {

/// Files of Parquet that are converted.
struct ParquetInput {
  miniapps::ParquetSet set;
  bool has_rows = false;                    ///< indices are rows already; else they are ids
  DenseRule dense_rule = DenseRule::log1p;  ///< `given`: numbers are kept
  std::vector<std::uint64_t> day_ends;      ///< samples before the end of each day

  [[nodiscard]] std::uint64_t bytes() const;
  /// All that the parts depend on.
  [[nodiscard]] std::string describe(std::uint64_t part_bytes) const;
};

/// The files of Parquet that the inputs name, files or folders of them; none where they are something else. `days`: the
/// samples are cut into so many; 0: as describe_parquet() says. Throws tutti::Error, one line, for files of Parquet
/// beside other inputs, and as describe_parquet().
[[nodiscard]] std::optional<ParquetInput> find_parquet(const std::vector<std::string>& inputs,
                                                       const miniapps::ParquetNames& names, DenseRule dense_rule,
                                                       std::uint64_t days);

/// Makes the parts that are not there yet, of about `part_bytes` of numbers, which lie within one row group and one
/// day; each rank reads row groups of its own. What is missing is 0. Collective; blocking. Throws AgreedError, naming
/// file, sample, column and rank, for a label that is missing or neither 0 nor 1, a dense feature that is no finite
/// number or, where it counts something, no integer of 32 bits, and an index that is no row where it is to be one.
void part_parquet(const Communicator& comm, const Workspace& workspace, const ParquetInput& input,
                  std::uint64_t part_bytes);

/// The indices of the largest bag of each table, as the parts say, and whether bags of any table differ in length.
/// Collective; blocking.
[[nodiscard]] std::vector<std::uint64_t> bag_lengths(const Communicator& comm, const ParquetInput& input,
                                                     const Catalog& catalog, bool& is_ragged);

}  // namespace tutti::data
