// SPDX-License-Identifier: BSD-3-Clause
#include "table_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "common/counter_random.hpp"

namespace sgd {

namespace {

constexpr std::size_t most_classes = 10000;  ///< more values than that are numbers, not classes

constexpr std::uint64_t split_stream = 11;

void copy_sample(const SparseSamples& from, std::size_t k, SparseSamples& to) {
  const auto begin = static_cast<std::ptrdiff_t>(from.offsets[k]);
  const auto end = static_cast<std::ptrdiff_t>(from.offsets[k + 1]);
  to.columns.insert(to.columns.end(), from.columns.begin() + begin, from.columns.begin() + end);
  to.values.insert(to.values.end(), from.values.begin() + begin, from.values.begin() + end);
  to.offsets.push_back(to.columns.size());
  to.labels.push_back(from.labels[k]);
}

}  // namespace

TableSource::TableSource(std::string name, std::size_t classes, SparseSamples train, SparseSamples test)
    : name_(std::move(name)),
      classes_(classes),
      train_(std::move(train)),
      test_(std::move(test)),
      features_(std::max(train_.width, test_.width)) {}

const SparseSamples& TableSource::part(Split split) const {
  return split == Split::train ? train_ : split == Split::test ? test_ : none_;
}

void TableSource::append(Split split, std::uint64_t k, Rows& rows) const {
  const SparseSamples& from = part(split);
  const auto begin = static_cast<std::ptrdiff_t>(from.offsets[k]);
  const auto end = static_cast<std::ptrdiff_t>(from.offsets[k + 1]);
  rows.columns.insert(rows.columns.end(), from.columns.begin() + begin, from.columns.begin() + end);
  rows.values.insert(rows.values.end(), from.values.begin() + begin, from.values.begin() + end);
  rows.offsets.push_back(rows.columns.size());
  rows.labels.push_back(from.labels[k]);
}

std::string TableSource::description() const {
  const auto n = std::max<std::size_t>(1, train_.labels.size());
  return fmt::format("{}, {} training and {} test samples of {} features, {:.1f} of them not zero", name_,
                     train_.labels.size(), test_.labels.size(), features_,
                     static_cast<double>(train_.values.size()) / static_cast<double>(n));
}

SparseSamples split_off(SparseSamples& samples, double share, std::uint64_t seed) {
  const tutti::miniapps::CounterRandom random(seed, split_stream);
  SparseSamples kept;
  SparseSamples taken;
  kept.width = taken.width = samples.width;
  for (std::size_t k = 0; k < samples.labels.size(); ++k) {
    copy_sample(samples, k, random.uniform(k) < share ? taken : kept);
  }
  samples = std::move(kept);
  return taken;
}

std::size_t number_classes(const std::string& name, std::vector<double>& train, std::vector<double>& test) {
  std::vector<double> values = train;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 2 || values.size() > most_classes) {
    throw tutti::Error(tutti::ErrorCode::io,
                       fmt::format("{}: its labels have {} values, not 2 to {} classes; use --model=linear for numbers",
                                   name, values.size(), most_classes));
  }
  for (auto* labels : {&train, &test}) {
    for (double& label : *labels) {
      const auto at = std::lower_bound(values.begin(), values.end(), label);
      if (at == values.end() || *at != label) {
        throw tutti::Error(tutti::ErrorCode::io, fmt::format("{}: label {} is in the test samples only", name, label));
      }
      label = static_cast<double>(at - values.begin());
    }
  }
  return values.size();
}

}  // namespace sgd
