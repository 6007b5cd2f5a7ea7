// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "criteo_text.hpp"

namespace tutti::miniapps {

/// Converts Criteo text to a file of records, as described at CriteoText, and a file of the values of the categories.
/// Two streaming passes over the text. Throws tutti::Error (io) as described there.
[[nodiscard]] CriteoTextSummary convert_criteo_text(const CriteoTextOptions& options,
                                                    const std::filesystem::path& records,
                                                    const std::filesystem::path& categories);

/// Throws tutti::Error (io) that names the remedy where the folder of the records has no room for those of all lines.
void require_room(const std::filesystem::path& folder, std::uint64_t lines, std::uint64_t available);

/// Reads the file of the values. Throws tutti::Error (io) where it is not that of the summary.
[[nodiscard]] CategoryValues read_categories(const std::filesystem::path& path, const CriteoTextSummary& summary);

/// The converted file of `options`: from the cache where it is there, else converted now. One process of a node
/// converts, others wait for it. Gives the path of the records.
struct CriteoCacheEntry {
  std::filesystem::path records;
  std::filesystem::path categories;
  CriteoTextSummary summary;
};
[[nodiscard]] CriteoCacheEntry cached_criteo_text(const CriteoTextOptions& options);

/// Throws tutti::Error (io) that names the first malformed line where there are more than allowed.
void check_bad_lines(const CriteoTextOptions& options, const CriteoTextSummary& summary);

}  // namespace tutti::miniapps
