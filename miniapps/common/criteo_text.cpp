// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_text.hpp"

#include <algorithm>
#include <limits>
#include <tutti/error.hpp>

#include "criteo_convert.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

Shuffle shuffle_kind(const std::string& name) {
  if (name == "total") {
    return Shuffle::total;
  }
  if (name == "day") {
    return Shuffle::day;
  }
  if (name == "none") {
    return Shuffle::none;
  }
  throw Error(ErrorCode::invalid_argument, "'" + name + "' is not one of total, day, none");
}

namespace {

constexpr std::size_t last_day = 6;

std::vector<std::uint32_t> training_order(const CriteoTextOptions& options, const CriteoTextSummary& summary) {
  if (options.shuffle == Shuffle::none) {
    return {};
  }
  const std::uint64_t count = summary.day_offsets[last_day];
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::not_supported, "more than 2^32 - 1 training samples cannot be shuffled; use 'none'");
  }
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(i);
  }
  NumpyRandom random(options.seed);
  if (options.shuffle == Shuffle::total) {
    random.shuffle(order);
    return order;
  }
  for (std::size_t d = 0; d < last_day; ++d) {
    const auto begin = static_cast<std::size_t>(summary.day_offsets[d]);
    const auto end = static_cast<std::size_t>(summary.day_offsets[d + 1]);
    random.shuffle(std::span(order).subspan(begin, end - begin));
  }
  return order;
}

}  // namespace

CriteoText::CriteoText(CriteoTextOptions options) : options_(std::move(options)) {
  CriteoCacheEntry entry = cached_criteo_text(options_);
  options_.known = {};
  summary_ = entry.summary;
  records_ = std::make_unique<CriteoRecordFile>(entry.records);
  categories_ = entry.categories;
  order_ = training_order(options_, summary_);
  for (const std::uint64_t categories : summary_.categories) {
    const auto limit = static_cast<std::uint64_t>(options_.max_ind_range);
    rows_.push_back(options_.max_ind_range > 0 ? std::min(categories, limit) : categories);
  }
}

std::uint64_t CriteoText::first_sample(Split split) const {
  const std::uint64_t day = summary_.day_offsets[last_day];
  const std::uint64_t size = summary_.day_offsets[last_day + 1] - day;
  if (options_.all_test && split == Split::validation) {
    return day + size;
  }
  return split == Split::train ? 0 : split == Split::test ? day : day + (size + 1) / 2;
}

std::uint64_t CriteoText::samples(Split split) const {
  switch (split) {
    case Split::train:
      return first_sample(Split::test);
    case Split::test:
      return first_sample(Split::validation) - first_sample(Split::test);
    case Split::validation:
      return summary_.day_offsets.back() - first_sample(Split::validation);
  }
  return 0;
}

CategoryValues CriteoText::categories() const { return read_categories(categories_, summary_); }

std::string CriteoText::description() const {
  const std::string training =
      options_.all_test ? std::string() : std::to_string(samples(Split::train)) + " training and ";
  return "Criteo text " + options_.file.string() + ", " + training + std::to_string(samples(Split::test)) +
         " test samples" +
         (summary_.bad_lines == 0 ? std::string()
                                  : ", " + std::to_string(summary_.bad_lines) + " malformed line(s) skipped, first " +
                                        summary_.first_bad_line);
}

void CriteoText::read_records(Split split, std::uint64_t first, std::span<CriteoRecord> out) const {
  if (split != Split::train || order_.empty()) {
    records_->read(first_sample(split) + first, out);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    records_->read(order_[static_cast<std::size_t>(first) + i], out.subspan(i, 1));
  }
}

void CriteoText::read(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range,
                      std::span<const std::size_t> tables, Batch& batch) {
  const std::size_t count = check_read(split, batch_size, k, range, tables);
  buffer_.resize(count);
  read_records(split, k * batch_size, buffer_);
  prepare_criteo_batch(count, range, tables.size(), batch);
  for (std::size_t i = 0; i < count; ++i) {
    put_criteo_record(buffer_[i], i, options_.max_ind_range, tables, batch);
  }
}

void CriteoText::write_binary(Split split, const std::filesystem::path& path) const {
  constexpr std::size_t block = 4096;
  CriteoRecordWriter writer(path);
  std::vector<CriteoRecord> records(block);
  for (std::uint64_t first = 0; first < samples(split); first += block) {
    records.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block, samples(split) - first)));
    read_records(split, first, records);
    std::for_each(records.begin(), records.end(), [&](const CriteoRecord& r) { writer.append(r); });
  }
  writer.close();
}

}  // namespace tutti::miniapps
