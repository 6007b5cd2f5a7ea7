// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tutti/error.hpp>

namespace tutti::detail {

namespace {

bool are_counts(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v >= 0; });
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool is_positive(double sum) { return std::isfinite(sum) && sum > 0; }

std::vector<std::int64_t> in_order(std::vector<std::int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Why the frequencies are impossible; "" if they are not.
std::string problem_of(const RowFrequencies& f, std::int64_t rows) {
  if (f.hot_rows.size() != f.hot_lookups.size()) return "have numbers of hot_rows and hot_lookups that differ";
  if (f.bucket_rows.size() != f.bucket_lookups.size())
    return "have numbers of bucket_rows and bucket_lookups that differ";
  if (!are_counts(f.hot_lookups) || !are_counts(f.bucket_rows) || !are_counts(f.bucket_lookups) ||
      (!f.empty() && !is_positive(sum_of(f.hot_lookups) + sum_of(f.bucket_lookups))))
    return "have counts that are not numbers of at least 0, of which one is greater";
  const auto hot = in_order(f.hot_rows);
  if (std::adjacent_find(hot.begin(), hot.end()) != hot.end()) return "name a hot row twice";
  if (!hot.empty() && (hot.front() < 0 || hot.back() >= rows)) return "name a hot row that the table does not have";
  if (static_cast<double>(hot.size()) + sum_of(f.bucket_rows) > static_cast<double>(rows))
    return "count more rows than the table has";
  for (std::size_t k = 0; k < f.bucket_rows.size(); ++k) {
    if (f.bucket_rows[k] == 0 && f.bucket_lookups[k] > 0) return "have a bucket with lookups and no rows";
  }
  return {};
}

}  // namespace

void check_access(const EmbeddingTableConfig& table, std::size_t t) {
  const auto& shares = table.lookup_shares;
  if (!shares.empty() && !(are_counts(shares) && is_positive(sum_of(shares)))) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("plan_sharding: lookup_shares of table {} '{}' are not numbers of at least 0, of which one is "
                    "greater; pass counts of lookups, or none",
                    t, table.name));
  }
  const std::string problem = problem_of(table.frequencies, table.rows);
  if (problem.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("plan_sharding: frequencies of table {} '{}' {}; pass those that count_rows() gives, or none",
                          t, table.name, problem));
}

RowLoad& RowLoad::operator+=(const RowLoad& other) {
  lookups += other.lookups;
  distinct += other.distinct;
  return *this;
}

RowAccess::RowAccess(const EmbeddingTableConfig& table, double lookups) : rows_(table.rows), lookups_(lookups) {
  all_ = sum_of(table.frequencies.hot_lookups) + sum_of(table.frequencies.bucket_lookups);
  add_hot_rows(table.frequencies);
  add_others(table);
}

/// The probability that a batch looks up a row which has this part of all lookups.
double RowAccess::hit(double part) const {
  if (lookups_ <= 0 || part <= 0) return 0;
  if (all_ > lookups_) return -std::expm1(part * all_ * std::log1p(-lookups_ / all_));
  return -std::expm1(lookups_ * std::log1p(-std::min(part, 1.0)));
}

void RowAccess::add_hot_rows(const RowFrequencies& f) {
  std::vector<std::size_t> order(f.hot_rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return f.hot_rows[a] < f.hot_rows[b]; });
  RowLoad sum;
  for (const std::size_t i : order) {
    const double part = f.hot_lookups[i] / all_;
    sum += {lookups_ * part, hit(part)};
    hot_rows_.push_back(f.hot_rows[i]);
    hot_.push_back(sum);
  }
}

/// What the hot rows leave of each block of rows: how many rows, and which part of all lookups.
std::vector<RowAccess::Block> RowAccess::without_hot_rows(const EmbeddingTableConfig& table) const {
  const auto& shares = table.lookup_shares;
  const std::size_t count = std::max<std::size_t>(1, shares.size());
  const double all_shares = sum_of(shares);
  std::vector<Block> blocks(count, {static_cast<double>(rows_) / static_cast<double>(count), 1});
  for (std::size_t b = 0; b < shares.size(); ++b) blocks[b].part = shares[b] / all_shares;
  const RowFrequencies& f = table.frequencies;
  for (std::size_t i = 0; i < f.hot_rows.size(); ++i) {
    const double place = static_cast<double>(f.hot_rows[i]) / static_cast<double>(rows_) * static_cast<double>(count);
    Block& block = blocks[std::min(static_cast<std::size_t>(place), count - 1)];
    block.rows -= 1;
    block.part = std::max(0.0, block.part - f.hot_lookups[i] / all_);
  }
  return blocks;
}

/// The number of different rows that a batch looks up in the buckets.
double RowAccess::distinct_of_buckets(const RowFrequencies& f) const {
  double sum = 0;
  for (std::size_t k = 0; k < f.bucket_rows.size(); ++k) {
    if (f.bucket_rows[k] > 0) sum += f.bucket_rows[k] * hit(f.bucket_lookups[k] / all_ / f.bucket_rows[k]);
  }
  return sum;
}

void RowAccess::add_others(const EmbeddingTableConfig& table) {
  const RowFrequencies& f = table.frequencies;
  const double of_others = f.empty() ? 1 : sum_of(f.bucket_lookups) / all_;
  auto blocks = without_hot_rows(table);
  double left = 0;
  for (const Block& block : blocks) left += block.part;
  if (left <= 0) {
    for (Block& block : blocks) left += block.part = std::max(0.0, block.rows);
  }
  RowLoad sum;
  others_.push_back(sum);
  for (const Block& block : blocks) {
    const double part = left > 0 ? block.part * (of_others / left) : 0;
    sum += {lookups_ * part, block.rows > 0 ? block.rows * hit(part / block.rows) : 0};
    others_.push_back(sum);
  }
  if (f.empty() || sum.distinct <= 0) return;
  const double scale = std::min(1.0, distinct_of_buckets(f) / sum.distinct);
  for (RowLoad& each : others_) each.distinct *= scale;
}

RowLoad RowAccess::hot_below(std::int64_t row) const {
  const auto at = std::lower_bound(hot_rows_.begin(), hot_rows_.end(), row) - hot_rows_.begin();
  return at == 0 ? RowLoad{} : hot_[static_cast<std::size_t>(at) - 1];
}

RowLoad RowAccess::others_below(std::int64_t row) const {
  if (row == rows_) return others_.back();
  const double place = static_cast<double>(row) / static_cast<double>(rows_) * static_cast<double>(others_.size() - 1);
  const std::size_t whole = std::min(static_cast<std::size_t>(place), others_.size() - 2);
  const double rest = place - static_cast<double>(whole);
  const RowLoad block = others_[whole + 1] - others_[whole];
  return {others_[whole].lookups + rest * block.lookups, others_[whole].distinct + rest * block.distinct};
}

RowLoad RowAccess::hot_of(const TableRows& rows) const {
  if (rows.step == 1) return hot_below(rows.end) - hot_below(rows.begin);
  auto& of_first = hot_of_step_[rows.step];
  if (of_first.empty()) {
    of_first.resize(static_cast<std::size_t>(rows.step));
    for (std::size_t i = 0; i < hot_.size(); ++i)
      of_first[static_cast<std::size_t>(hot_rows_[i] % rows.step)] += i == 0 ? hot_[i] : hot_[i] - hot_[i - 1];
  }
  return of_first[static_cast<std::size_t>(rows.begin % rows.step)];
}

RowLoad RowAccess::load(const TableRows& rows) const {
  RowLoad sum = hot_of(rows);
  const RowLoad others = others_below(rows.end) - others_below(rows.begin);
  const double part =
      rows.step == 1 ? 1 : static_cast<double>(rows.size()) / static_cast<double>(rows.end - rows.begin);
  return sum += {others.lookups * part, others.distinct * part};
}

}  // namespace tutti::detail
