// SPDX-License-Identifier: BSD-3-Clause
#include "adult.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tutti/error.hpp>

#include "adult_columns.hpp"
#include "data_files.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::size_t rare_below = 5;  ///< categories with fewer training rows share row 0

/// Mean and deviation of the training values of each dense feature.
struct Standard {
  std::vector<double> mean;
  std::vector<double> deviation;
};

Standard standard_of(const std::vector<AdultRow>& rows) {
  Standard s;
  for (const AdultRow& row : rows) {
    const auto dense = adult_dense(row);
    s.mean.resize(dense.size());
    s.deviation.resize(dense.size());
    for (std::size_t j = 0; j < dense.size(); ++j) {
      s.mean[j] += dense[j];
      s.deviation[j] += dense[j] * dense[j];
    }
  }
  const auto n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < s.mean.size(); ++j) {
    s.mean[j] /= n;
    s.deviation[j] = std::sqrt(std::max(s.deviation[j] / n - s.mean[j] * s.mean[j], 1e-12));
  }
  return s;
}

using Dictionary = std::map<std::string, std::int32_t>;

/// Numbers from 1, in alphabetical order, for what is frequent in training.
std::vector<Dictionary> dictionaries_of(const std::vector<AdultRow>& rows) {
  std::vector<std::map<std::string, std::size_t>> counts;
  for (const AdultRow& row : rows) {
    const auto values = adult_categories(row);
    counts.resize(values.size());
    for (std::size_t t = 0; t < values.size(); ++t) {
      ++counts[t][values[t]];
    }
  }
  std::vector<Dictionary> dictionaries(counts.size());
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (const auto& [value, count] : counts[t]) {
      if (count >= rare_below) {
        const auto number = static_cast<std::int32_t>(dictionaries[t].size() + 1);
        dictionaries[t].emplace(value, number);
      }
    }
  }
  return dictionaries;
}

std::vector<AdultRow> load(const std::filesystem::path& folder, const std::string& name) {
  const auto path = folder.empty() ? find_data("adult/" + name) : folder / name;
  return parse_adult(read_maybe_gzip(path), path.string());
}

}  // namespace

Adult::Adult(std::uint32_t seed, const std::filesystem::path& folder) : seed_(seed) {
  const auto train = load(folder, "adult.data.gz");
  const auto test = load(folder, "adult.test.gz");
  const Standard standard = standard_of(train);
  const auto dictionaries = dictionaries_of(train);
  dense_features_ = standard.mean.size();
  for (const Dictionary& dictionary : dictionaries) {
    rows_.push_back(dictionary.size() + 1);
  }
  const auto fill = [&](const std::vector<AdultRow>& rows, SplitData& data) {
    for (const AdultRow& row : rows) {
      const auto dense = adult_dense(row);
      for (std::size_t j = 0; j < dense.size(); ++j) {
        data.dense.push_back(static_cast<float>((dense[j] - standard.mean[j]) / standard.deviation[j]));
      }
      const auto values = adult_categories(row);
      for (std::size_t t = 0; t < values.size(); ++t) {
        const auto found = dictionaries[t].find(values[t]);
        data.indices.push_back(found == dictionaries[t].end() ? 0 : found->second);
      }
      data.labels.push_back(row.above ? 1.0F : 0.0F);
    }
    data.order.resize(rows.size());
    std::iota(data.order.begin(), data.order.end(), 0U);
  };
  fill(train, train_);
  fill(test, test_);
  begin_epoch(0);
}

std::uint64_t Adult::samples(Split split) const {
  return split == Split::train ? train_.labels.size() : split == Split::test ? test_.labels.size() : 0;
}

std::string Adult::description() const {
  return "Adult census data, " + std::to_string(train_.labels.size()) + " training and " +
         std::to_string(test_.labels.size()) + " test samples";
}

void Adult::begin_epoch(std::uint64_t epoch) {
  std::iota(train_.order.begin(), train_.order.end(), 0U);
  NumpyRandom(seed_ + static_cast<std::uint32_t>(epoch)).shuffle(train_.order);
}

void Adult::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  const SplitData& data = split == Split::train ? train_ : test_;
  const auto order = std::span(data.order).subspan(k * batch_size, batch.count);
  float* dense = batch.dense.data();
  for (std::size_t i = 0; i < part.range.size(); ++i) {
    const std::size_t sample = order[part.range.begin + i];
    dense = std::copy_n(data.dense.data() + sample * dense_features_, dense_features_, dense);
    batch.labels[i] = data.labels[sample];
  }
  const SampleRange bagged = batch.bag_range();
  for (std::size_t t = 0; t < part.tables.size(); ++t) {
    const auto indices = make_one_hot(batch.tables[t], bagged.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = data.indices[order[bagged.begin + i] * rows_.size() + part.tables[t]];
    }
  }
}

}  // namespace tutti::miniapps
