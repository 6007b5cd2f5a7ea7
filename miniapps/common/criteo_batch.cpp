// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "criteo_binary.hpp"

namespace tutti::miniapps {

namespace {

// A block of records stays in the first cache while it is turned from samples to tables.
constexpr std::size_t turned_block = 64;
constexpr std::size_t kept_logarithms = 1U << 14U;

/// log(x + 1) of the numbers that almost all features have.
const std::array<float, kept_logarithms>& logarithms() {
  static const std::array<float, kept_logarithms> all = [] {
    std::array<float, kept_logarithms> values{};
    for (std::size_t x = 0; x < values.size(); ++x) {
      values[x] = std::log(static_cast<float>(x) + 1.0F);
    }
    return values;
  }();
  return all;
}

void put_dense(std::span<const CriteoRecord> records, float* dense, float* labels) {
  for (const CriteoRecord& record : records) {
    *labels++ = static_cast<float>(record.label);
    for (const std::int32_t x : record.dense) {
      *dense++ = log_of_count(x);
    }
  }
}

void put_indices(std::span<const CriteoRecord> records, std::size_t table, std::int64_t max_ind_range,
                 std::int64_t* indices) {
  for (const CriteoRecord& record : records) {
    *indices++ = record.categories[table];
  }
  if (max_ind_range > 0) {
    std::for_each(indices - records.size(), indices, [max_ind_range](std::int64_t& id) { id %= max_ind_range; });
  }
}

/// The part of a block of samples [begin, end) that is in `range`.
SampleRange overlap(SampleRange range, std::size_t begin, std::size_t end) {
  const std::size_t first = std::clamp(begin, range.begin, range.end);
  return {first, std::clamp(end, first, std::max(first, range.end))};
}

}  // namespace

float log_of_count(std::int32_t count) {
  static const auto& kept = logarithms();
  const auto place = static_cast<std::size_t>(count);
  return place < kept.size() ? kept[place] : std::log(static_cast<float>(count) + 1.0F);
}

void read_criteo_records(const CriteoSplit& split, std::size_t batch_size, std::uint64_t k, std::size_t begin,
                         std::span<CriteoRecord> out) {
  if (split.order == nullptr) {
    return split.file->read(split.first + k * batch_size + begin, out);
  }
  if (split.order->has_runs()) {
    for (std::size_t done = 0; done < out.size();) {
      const SampleRun run = split.order->run(k, batch_size, begin + done, begin + out.size());
      split.file->read(split.first + run.first, out.subspan(done, run.count));
      done += run.count;
    }
    return;
  }
  std::array<std::uint64_t, turned_block> numbers;
  for (std::size_t done = 0; done < out.size(); done += turned_block) {
    const auto some = std::span(numbers).first(std::min(turned_block, out.size() - done));
    split.order->number(k * batch_size + begin + done, some);
    std::for_each(some.begin(), some.end(), [&](std::uint64_t& number) { number += split.first; });
    split.file->gather(some, out.subspan(done, some.size()));
  }
}

void read_criteo_batch(const CriteoSplit& split, std::size_t batch_size, std::uint64_t k, std::int64_t max_ind_range,
                       std::span<const std::size_t> tables, Batch& batch) {
  const SampleRange bagged = tables.empty() ? batch.range : batch.bag_range();
  std::vector<std::span<std::int64_t>> indices;
  for (TableBags& bags : batch.tables) {
    indices.push_back(make_one_hot(bags, bagged.size()));
  }
  std::array<CriteoRecord, turned_block> buffer;
  for (std::size_t begin = bagged.begin; begin < bagged.end; begin += turned_block) {
    const auto records = std::span(buffer).first(std::min(turned_block, bagged.end - begin));
    read_criteo_records(split, batch_size, k, begin, records);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      put_indices(records, tables[t], max_ind_range, indices[t].data() + (begin - bagged.begin));
    }
    const SampleRange dense = overlap(batch.range, begin, begin + records.size());
    const std::size_t row = dense.begin - batch.range.begin;
    put_dense(records.subspan(dense.size() == 0 ? 0 : dense.begin - begin, dense.size()),
              batch.dense.data() + row * criteo_dense, batch.labels.data() + row);
  }
}

}  // namespace tutti::miniapps
