// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "common/libsvm.hpp"
#include "source.hpp"

namespace sgd {

using tutti::miniapps::SparseSamples;

/// Sparse samples in memory: 12 bytes a value, on every rank.
class TableSource : public Source {
 public:
  TableSource(std::string name, std::size_t classes, SparseSamples train, SparseSamples test);

  [[nodiscard]] std::size_t features() const override { return features_; }
  [[nodiscard]] std::size_t classes() const override { return classes_; }
  [[nodiscard]] bool sparse() const override { return true; }
  [[nodiscard]] std::uint64_t samples(Split split) const override { return part(split).labels.size(); }
  void append(Split split, std::uint64_t k, Rows& rows) const override;
  [[nodiscard]] std::string description() const override;

 private:
  [[nodiscard]] const SparseSamples& part(Split split) const;

  std::string name_;
  std::size_t classes_;
  SparseSamples train_;
  SparseSamples test_;
  SparseSamples none_;
  std::size_t features_;
};

/// Moves a share of the samples, chosen by the seed, to a set to test with; both keep their order.
[[nodiscard]] SparseSamples split_off(SparseSamples& samples, double share, std::uint64_t seed);

/// Replaces labels by the number of their value among those of `train`, ascending; how many there are. Throws
/// tutti::Error (io), naming `name`, for a single value, for more than 10000, and for one that only `test` has.
[[nodiscard]] std::size_t number_classes(const std::string& name, std::vector<double>& train,
                                         std::vector<double>& test);

}  // namespace sgd
