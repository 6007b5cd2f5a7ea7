// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lookup_counts.hpp"

namespace tutti::miniapps {

enum class Split { train, test, validation };

/// Half-open range of samples within a batch.
struct SampleRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// The samples whose bags a rank reads.
enum class BagSamples {
  all,  ///< of the global batch: the rank needs no other to look rows up
  own,  ///< of its range: what each rank reads shrinks with the number of ranks, which exchange the bags
};

/// What one rank reads of a global batch.
struct BatchPart {
  SampleRange range{};                    ///< of dense features and labels; ends at batch_count() at most
  std::span<const std::size_t> tables{};  ///< whose bags it reads, ascending
  BagSamples bags = BagSamples::all;
};

/// The bags of one table: sample i of them has indices[offsets[i] .. offsets[i + 1]).
struct TableBags {
  std::vector<std::int64_t> offsets;  ///< one more than samples
  std::vector<std::int64_t> indices;
};

/// What one rank needs of a global batch. Kept by the caller and reused, so that reading does not allocate again.
struct Batch {
  std::size_t count = 0;              ///< samples of the global batch; the last one of an epoch may be short
  SampleRange range;                  ///< the part that dense and labels hold
  BagSamples bags = BagSamples::all;  ///< the part that tables hold
  std::vector<float> dense;           ///< [range.size()][dense_features()]
  std::vector<float> labels;          ///< [range.size()]
  std::vector<TableBags> tables;      ///< of the tables asked for, in that order
  /// The samples of the batch whose bags `tables` holds.
  [[nodiscard]] SampleRange bag_range() const { return bags == BagSamples::own ? range : SampleRange{0, count}; }
};

/// For each table the values that its rows stand for, in the order of the rows; empty for a source that has not
/// numbered them itself.
using CategoryValues = std::vector<std::vector<std::uint32_t>>;

/// Where samples come from, a batch at a time. Every rank has its own source and reads for itself the part of a batch
/// that it asks for. Every rank of the same settings sees the same samples, whatever it asks for. Nothing here
/// communicates. One thread at a time.
class DataSource {
 public:
  virtual ~DataSource() = default;

  [[nodiscard]] virtual std::size_t dense_features() const = 0;
  /// Rows that each table needs.
  [[nodiscard]] virtual const std::vector<std::uint64_t>& table_rows() const = 0;
  /// Mean indices of a sample in each table, for placing the tables.
  [[nodiscard]] virtual std::vector<double> mean_lookups() const { return std::vector<double>(table_rows().size(), 1); }
  /// How often the rows of each table occur in the whole data; empty for a source that does not know it without
  /// reading.
  [[nodiscard]] virtual std::vector<LookupCounts> lookup_counts() const { return {}; }
  [[nodiscard]] virtual std::uint64_t samples(Split split) const = 0;
  /// One line for reports: what this is and how large.
  [[nodiscard]] virtual std::string description() const = 0;

  /// The numbering of the categories, which a checkpoint must keep: without it the rows of a model mean nothing.
  [[nodiscard]] virtual CategoryValues categories() const { return {}; }

  /// Fixes the order of the training samples of an epoch, counted from 0. Sources without shuffling ignore it.
  virtual void begin_epoch(std::uint64_t epoch) { (void)epoch; }

  /// ceil(samples / batch_size)
  [[nodiscard]] std::uint64_t batches(Split split, std::size_t batch_size) const {
    return (samples(split) + batch_size - 1) / batch_size;
  }
  /// Samples of batch k.
  [[nodiscard]] std::size_t batch_count(Split split, std::size_t batch_size, std::uint64_t k) const;

  /// Reads a part of batch `k` of the epoch, of `batch_size` samples or what is left. Fastest for k in order; any k
  /// works. Throws tutti::Error: misuse is invalid_argument, unreadable files are io.
  virtual void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) = 0;

 protected:
  /// Throws where the arguments of read contradict each other; sizes the batch, all but the tables' indices.
  void begin_read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) const;
};

/// Gives the bags of a table one index a sample; returns the indices, to be set.
[[nodiscard]] std::span<std::int64_t> make_one_hot(TableBags& bags, std::size_t samples);

[[nodiscard]] const char* split_name(Split split);

}  // namespace tutti::miniapps
