// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tutti/communicator.hpp>

#include "catalog.hpp"
#include "dictionary.hpp"
#include "output.hpp"

namespace tutti::data {

/// How parts become a data set.
struct BuildOptions {
  std::filesystem::path prefix;
  OutputShape shape;
  DictionaryRule rule;
  std::vector<std::uint64_t> given_rows;  ///< of each table of ids that are rows; empty: as the dictionary says
  std::uint64_t days = 0;  ///< the samples are cut in so many days of equal length; 0: a day an input file
};

/// What was done, for a report.
struct BuildSummary {
  miniapps::Sidecar sidecar;
  std::uint64_t ids = 0;               ///< of all tables
  std::uint64_t dictionary_bytes = 0;  ///< over all ranks
};

/// Numbers the ids of all parts, writes the files of PREFIX and then their sidecar; the bytes do not depend on the
/// number of ranks. Shows its progress on rank 0. Collective; blocking. Throws AgreedError, or another error that ends
/// the program.
[[nodiscard]] BuildSummary build_data(const Communicator& comm, const BuildOptions& options, const Catalog& catalog);

}  // namespace tutti::data
