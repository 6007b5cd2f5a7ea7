// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "catalog.hpp"
#include "common/data/sidecar.hpp"

namespace tutti::data {

/// A folder of day files of arrays.
struct ArrayInput {
  std::filesystem::path folder;
  miniapps::Sidecar sidecar;  ///< as describe_array_days() says

  [[nodiscard]] std::size_t days() const { return sidecar.files.size() / 3; }
  [[nodiscard]] std::uint64_t bytes() const;
  /// Indices of a sample in each table.
  [[nodiscard]] std::vector<std::uint64_t> hotness() const;
  /// All that the parts depend on.
  [[nodiscard]] std::string describe(std::uint64_t part_bytes) const;
};

/// The folder of arrays that the inputs name; none where they are text. Throws tutti::Error (io), one line, for a
/// folder of arrays beside other inputs, and as describe_array_days().
[[nodiscard]] std::optional<ArrayInput> find_arrays(const std::vector<std::string>& inputs);

/// Makes the parts that are not there yet, of `part_bytes` of arrays; a day of deflated arrays is read by one rank.
/// Dense features are kept as the bits of their numbers. Collective; blocking. Throws AgreedError, naming file, sample
/// and rank, for a label that is neither 0 nor 1, a dense feature that is not a number and a negative index.
void part_arrays(const Communicator& comm, const Workspace& workspace, const ArrayInput& input,
                 std::uint64_t part_bytes);

}  // namespace tutti::data
