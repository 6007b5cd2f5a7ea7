// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "catalog.hpp"
#include "common/data/draft_file.hpp"
#include "common/data/npy.hpp"
#include "common/data/sidecar.hpp"

namespace tutti::data {

enum class Format { binary, npy, parquet };
/// Of numbers before the logarithm; `given`: the bits of floats are kept. `automatic`: as the input is.
enum class DenseRule { automatic, log1p, log3, given };

/// The number whose log(x + 1) is the rule's value.
[[nodiscard]] std::int32_t before_log(std::int32_t value, DenseRule rule);

/// What a run of rows of a file holds.
enum class RowKind { records, dense, labels, indices, offsets };

/// Rows of samples one after the other in a file, behind a header of their own.
struct RowRun {
  RowKind kind;
  std::size_t table = 0;
  std::uint64_t row_bytes = 0;  ///< 0: indices of a ragged table, 4 bytes a lookup
  std::uint64_t bytes = 0;
  std::string header;        ///< of .npy, counted neither in offset nor in bytes
  std::string member{};      ///< name in the .npz; empty: the file is no zip
  std::uint64_t offset = 0;  ///< of the first row in the file
};

struct OutputFile {
  miniapps::SidecarFile facts;
  std::uint64_t first_sample = 0;
  std::vector<RowRun> runs;  ///< none of Parquet, which has an encoding of its own
};

/// The files of a data set: names, content and the place of each sample.
struct OutputLayout {
  std::filesystem::path folder;  ///< of the files
  std::filesystem::path sidecar;
  std::vector<OutputFile> files;
  std::vector<std::uint64_t> day_ends;  ///< samples before the end of each day
};

/// What the data set is made of beside its samples.
struct OutputShape {
  Format format = Format::binary;
  DenseRule dense_rule = DenseRule::log1p;
  std::size_t dense_features = 0;
  std::vector<std::uint64_t> hotness;  ///< of each table
  bool ragged = false;
};

/// The layout of the files of PREFIX, divided as split_days() says. A pure function.
[[nodiscard]] OutputLayout lay_out(const std::filesystem::path& prefix, const OutputShape& shape,
                                   const Catalog& catalog, const std::vector<std::uint64_t>& day_ends);

/// Writes the files of a layout, all ranks into the same drafts.
class OutputWriter {
 public:
  /// Collective; blocking. Throws AgreedError where a draft cannot be made.
  OutputWriter(const Communicator& comm, const OutputLayout& layout, const OutputShape& shape, const Catalog& catalog);

  /// Writes the samples of a part, whose ids have these rows. Local.
  void write(const PartFile& part, std::size_t number, const std::vector<std::vector<std::uint32_t>>& rows);
  /// Completes the files, gives them their names, and gives what the sidecar says of them on rank 0. Collective;
  /// blocking.
  [[nodiscard]] std::vector<miniapps::SidecarFile> finish(const Communicator& comm);

 private:
  void write_rows(std::size_t file, std::size_t run, std::size_t number, const PartFile& part,
                  const std::vector<std::vector<std::uint32_t>>& rows);
  [[nodiscard]] miniapps::SidecarFile finish_file(std::size_t file, const std::vector<std::uint32_t>& crcs);

  const OutputLayout& layout_;
  const OutputShape& shape_;
  std::vector<std::uint64_t> first_samples_;
  std::vector<std::vector<std::uint64_t>> first_lookups_;
  std::vector<std::uint64_t> part_files_;
  std::vector<std::unique_ptr<miniapps::DraftFile>> drafts_;
  std::vector<std::uint64_t> segments_;  ///< file, run, part, checksum and bytes of what this rank wrote
  std::vector<std::byte> buffer_;
};

}  // namespace tutti::data
