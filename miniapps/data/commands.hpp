// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/data/parquet_set.hpp"
#include "dictionary.hpp"
#include "output.hpp"

namespace tutti::data {

struct ConvertOptions {
  std::vector<std::string> inputs;
  std::string output;
  Format format = Format::binary;
  DenseRule dense_rule = DenseRule::automatic;
  DictionaryRule rule;
  std::uint64_t days = 0;  ///< 0: 7 for one file, a day a file for more
  std::size_t part_bytes = std::size_t{32} << 20U;
  miniapps::ParquetNames names;
};

struct GenerateOptions {
  std::string output;
  Format format = Format::binary;
  std::uint64_t samples = 1'000'000;
  std::uint64_t days = 7;
  std::uint32_t dense_features = 13;
  std::vector<std::uint64_t> rows{1'000'000};  ///< of each table; one number: of all 26
  std::vector<double> zipf{1.05};              ///< exponent of each table; one number: of all
  std::vector<std::uint64_t> hotness{1};       ///< of each table; one number: of all
  bool ragged = false;
  std::uint64_t part_samples = 65536;
  std::uint64_t seed = 1;
};

struct ViewOptions {
  std::string data;         ///< prefix, folder or sidecar
  std::uint64_t first = 0;  ///< sample
  std::uint64_t count = 5;
};

/// Each is a subcommand; collective over `comm`, blocking; rank 0 prints. They throw AgreedError for what all ranks
/// know.
void convert(const Communicator& comm, const ConvertOptions& options);
void generate(const Communicator& comm, const GenerateOptions& options);
void info(const Communicator& comm, const ViewOptions& options);
void check(const Communicator& comm, const ViewOptions& options);
void sample(const Communicator& comm, const ViewOptions& options);

}  // namespace tutti::data
