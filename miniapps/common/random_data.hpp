// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bag_sorter.hpp"
#include "data_source.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

struct RandomDataOptions {
  std::uint64_t samples = 1;
  std::size_t dense_features = 4;
  std::vector<std::uint64_t> table_rows{4, 3, 2};
  std::size_t indices_per_lookup = 10;
  bool indices_per_lookup_fixed = false;
  bool gaussian = false;
  double min = 0;
  double max = 1;
  double mu = -1;  ///< -1: the middle of min and max
  double sigma = 1;
  bool round_targets = false;
  std::uint32_t seed = 123;
};

/// `--data-generation=random`, the same numbers as the reference's RandomDataset: one generator runs through the
/// batches and is seeded anew at batch 0, so every epoch has the same samples. The test samples are the training
/// samples. Memory: one batch.
class RandomData : public DataSource {
 public:
  explicit RandomData(RandomDataOptions options);

  [[nodiscard]] std::size_t dense_features() const override { return options_.dense_features; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return options_.table_rows; }
  [[nodiscard]] std::vector<double> mean_lookups() const override;
  [[nodiscard]] std::uint64_t samples(Split) const override { return options_.samples; }
  [[nodiscard]] std::string description() const override;
  /// Reading a batch out of order draws all before it again.
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

  /// The generator as the last read of `split` left it (the reference's --debug-mode draws the weights from there).
  [[nodiscard]] const NumpyRandom& generator(Split split) const { return stream(split).random; }

 private:
  struct Stream {
    NumpyRandom random;
    std::uint64_t next = 0;
    std::size_t batch_size = 0;
  };
  [[nodiscard]] const Stream& stream(Split split) const { return streams_[split == Split::train ? 0 : 1]; }
  void draw(NumpyRandom& random, std::span<const std::size_t> tables, Batch& batch);
  /// Draws how many indices the next bag has.
  [[nodiscard]] std::size_t draw_count(NumpyRandom& random, std::uint64_t rows) const;
  void draw_uniform(NumpyRandom& random, std::uint64_t rows, std::vector<std::int64_t>& indices);
  void draw_gaussian(NumpyRandom& random, std::uint64_t rows, std::vector<std::int64_t>& indices);
  void draw_bags(NumpyRandom& random, std::uint64_t rows, std::size_t count, TableBags& bags);
  /// As draw_bags of bags that nobody needs.
  void skip_bags(NumpyRandom& random, std::uint64_t rows, std::size_t count);

  RandomDataOptions options_;
  std::vector<Stream> streams_;
  std::vector<double> values_;  ///< of the bag being drawn
  std::vector<std::int64_t> bag_;
  BagSorter sorter_;
};

}  // namespace tutti::miniapps
