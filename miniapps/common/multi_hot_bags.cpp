// SPDX-License-Identifier: BSD-3-Clause
#include "multi_hot_bags.hpp"

#include <algorithm>
#include <tutti/error.hpp>

#include "counter_random.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::uint64_t most_rows = std::uint64_t{1} << 31U;

void check(std::span<const std::uint64_t> rows, std::span<const std::size_t> sizes, BagRule rule) {
  if (rows.size() != sizes.size()) {
    throw Error(ErrorCode::invalid_argument, "multi-hot bags have sizes for " + std::to_string(sizes.size()) +
                                                 " tables but the data has " + std::to_string(rows.size()));
  }
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (rows[t] == 0 || sizes[t] == 0) {
      throw Error(ErrorCode::invalid_argument,
                  "multi-hot bags: rows and size of table " + std::to_string(t) + " must be positive");
    }
    if (rule == BagRule::numpy && rows[t] > most_rows) {
      throw Error(ErrorCode::invalid_argument, "multi-hot bags: table " + std::to_string(t) + " has " +
                                                   std::to_string(rows[t]) +
                                                   " rows, more than numpy's rule can name; use the counter rule");
    }
  }
}

/// Uniform in [0, rows): the upper half of a product. Source: Lemire, Fast random integer generation in an interval,
/// 2019, without its rejection, whose bias here is below rows / 2^64.
std::int64_t scaled(std::uint64_t bits, std::uint64_t rows) {
  const std::uint64_t low = (bits & 0xFFFFFFFFU) * (rows & 0xFFFFFFFFU);
  const std::uint64_t a = (bits >> 32U) * (rows & 0xFFFFFFFFU) + (low >> 32U);
  const std::uint64_t b = (bits & 0xFFFFFFFFU) * (rows >> 32U) + (a & 0xFFFFFFFFU);
  return static_cast<std::int64_t>((bits >> 32U) * (rows >> 32U) + (a >> 32U) + (b >> 32U));
}

}  // namespace

BagRule bag_rule(const std::string& name) {
  if (name == "numpy" || name == "counter") {
    return name == "numpy" ? BagRule::numpy : BagRule::counter;
  }
  throw Error(ErrorCode::invalid_argument, "multi-hot bags are of rule numpy or counter, not '" + name + "'");
}

std::uint64_t bag_bytes(std::span<const std::uint64_t> rows, std::span<const std::size_t> sizes) {
  std::uint64_t bytes = 0;
  for (std::size_t t = 0; t < std::min(rows.size(), sizes.size()); ++t) {
    bytes += sizeof(std::int32_t) * rows[t] * (sizes[t] - 1);
  }
  return bytes;
}

MultiHotBags::MultiHotBags(std::vector<std::uint64_t> rows, std::vector<std::size_t> sizes, BagRule rule,
                           std::uint32_t seed)
    : rows_(std::move(rows)), sizes_(std::move(sizes)), rule_(rule), seed_(seed), kept_(rows_.size()) {
  check(rows_, sizes_, rule);
  starts_.emplace_back(seed);
}

const std::vector<std::int32_t>& MultiHotBags::kept(std::size_t table) {
  auto& bags = kept_[table];
  if (bags.size() == drawn(table)) {
    return bags;
  }
  for (std::size_t before = starts_.size() - 1; before < table; ++before) {
    NumpyRandom random = starts_.back();
    random.skip_below(drawn(before), static_cast<std::uint32_t>(rows_[before]));
    starts_.push_back(random);
  }
  bags.resize(drawn(table));
  NumpyRandom random = starts_[table];
  random.fill_below(bags, static_cast<std::uint32_t>(rows_[table]));
  if (starts_.size() == table + 1) {
    starts_.push_back(random);
  }
  return bags;
}

void MultiHotBags::expand(std::size_t table, std::span<const std::int64_t> ids, std::span<std::int64_t> bags) {
  const std::size_t more = sizes_[table] - 1;
  const std::int32_t* drawn_bags = rule_ == BagRule::numpy ? kept(table).data() : nullptr;
  const CounterRandom counter(seed_, table);
  auto out = bags.begin();
  for (const std::int64_t id : ids) {
    *out++ = id;
    const std::uint64_t first = static_cast<std::uint64_t>(id) * more;
    if (drawn_bags != nullptr) {
      out = std::copy_n(drawn_bags + first, more, out);
      continue;
    }
    for (std::uint64_t j = first; j < first + more; ++j) {
      *out++ = scaled(counter.bits(j), rows_[table]);
    }
  }
}

std::uint64_t MultiHotBags::kept_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& bags : kept_) {
    bytes += bags.size() * sizeof(std::int32_t);
  }
  return bytes;
}

}  // namespace tutti::miniapps
