// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "common/data/npy.hpp"
#include "common/data/sidecar.hpp"

namespace tutti::data {

/// A data set that is there.
struct DataSet {
  std::filesystem::path folder;
  miniapps::Sidecar sidecar;
};

/// Reads the sidecar of a data set, named by its prefix, its folder or its sidecar, and looks at the lengths of its
/// files. Throws tutti::Error (io), one line. Local.
[[nodiscard]] DataSet open_data(const std::string& name);

/// The bags of one table in a file of `sparse`: `offsets` is empty where all have `hotness` indices.
struct TableArrays {
  miniapps::NpyArray indices;
  miniapps::NpyArray offsets;
  std::uint64_t hotness = 0;

  /// Where the bag of a sample begins.
  [[nodiscard]] std::uint64_t begin(std::uint64_t sample) const {
    return hotness > 0 ? sample * hotness : static_cast<std::uint64_t>(offsets.at<std::int64_t>(sample));
  }
};

/// Throws tutti::Error (io), one line, where the arrays do not fit the sidecar.
[[nodiscard]] TableArrays table_arrays(miniapps::NpzFile& file, const DataSet& data, std::size_t table,
                                       std::uint64_t samples, const std::string& name);

}  // namespace tutti::data
