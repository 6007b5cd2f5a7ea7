// SPDX-License-Identifier: BSD-3-Clause
#include "parquet_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tutti/error.hpp>

#include "criteo_binary.hpp"
#include "data/day_files.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_source(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

}  // namespace

ParquetSet describe_numbered_parquet(const fs::path& path, const ParquetNames& names) {
  ParquetSet set = describe_parquet({path.string()}, names);
  for (const ParquetColumn& column : set.tables()) {
    if (column.kind == ParquetKind::text) {
      fail_source(path, "column '" + column.name.substr(0, 40) +
                            "' has texts, which name no rows of a table; number them by tutti-data convert");
    }
  }
  return set;
}

namespace {

Shuffle checked(Shuffle shuffle) {
  if (shuffle != Shuffle::none && shuffle != Shuffle::interleaved) {
    throw Error(ErrorCode::invalid_argument,
                "files of Parquet are read forward: use --data-randomize=none or interleaved, or convert them by "
                "tutti-data convert to shuffle samples");
  }
  return shuffle;
}

std::array<std::uint64_t, 3> splits_of(const ParquetSet& set) {
  if (set.sidecar) {
    return {set.sidecar->train, set.sidecar->test, set.sidecar->validation};
  }
  const auto [train, test] = split_days(set.day_ends);
  return {train, test, set.samples() - train - test};
}

}  // namespace

ParquetSource::ParquetSource(const ParquetSourceOptions& options)
    : set_(describe_numbered_parquet(options.path, options.names)),
      path_(options.path),
      has_counts_(set_.has_counts()),
      max_ind_range_(options.max_ind_range),
      all_rows_(options.rows),
      rows_(capped_rows(options.rows, options.max_ind_range)),
      splits_(splits_of(set_)),
      order_(checked(options.shuffle), options.seed, std::array{splits_[0]}) {
  if (all_rows_.size() != set_.tables().size()) {
    fail_source(path_, "has " + std::to_string(set_.tables().size()) + " tables, but rows are given for " +
                           std::to_string(all_rows_.size()) + "; name the rows of each table");
  }
}

std::vector<double> ParquetSource::mean_lookups() const {
  std::vector<double> means;
  for (const ParquetColumn& column : set_.tables()) {
    means.push_back(static_cast<double>(column.values) / static_cast<double>(set_.samples()));
  }
  return means;
}

std::vector<LookupCounts> ParquetSource::lookup_counts() const {
  const bool is_known = max_ind_range_ <= 0 && set_.sidecar;
  return is_known ? miniapps::lookup_counts(*set_.sidecar) : std::vector<LookupCounts>();
}

std::uint64_t ParquetSource::samples(Split split) const { return splits_[static_cast<std::size_t>(split)]; }

std::string ParquetSource::description() const {
  return "Parquet " + path_.string() + ", " + std::to_string(splits_[0]) + " training and " +
         std::to_string(splits_[1]) + " test samples";
}

std::shared_ptr<const ParquetFile> ParquetSource::open(std::size_t file) const {
  const auto same =
      std::ranges::find_if(cursors_, [&](const Cursor& cursor) { return set_.groups[cursor.group].file == file; });
  return same != cursors_.end() ? same->file : std::shared_ptr<const ParquetFile>(open_parquet(set_.files[file].path));
}

ParquetSource::Cursor ParquetSource::make_cursor(std::size_t group, std::span<const std::size_t> tables) const {
  const ParquetGroup& place = set_.groups[group];
  Cursor cursor{group, 0, 0, {tables.begin(), tables.end()}, open(place.file), {}};
  const auto all = set_.names();
  std::vector<std::string> names(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(1 + set_.dense_features));
  for (const std::size_t table : tables) {
    names.push_back(all[1 + set_.dense_features + table]);
  }
  cursor.rows = cursor.file->rows(place.group, names);
  return cursor;
}

// Each stretch of the training samples has a cursor, and so have the two other splits.
ParquetSource::Cursor& ParquetSource::cursor_at(std::size_t group, std::uint64_t row,
                                                std::span<const std::size_t> tables) {
  constexpr std::size_t most = interleaved_stretches + 2;
  auto cursor = std::ranges::find_if(cursors_, [&](const Cursor& one) {
    return one.group == group && one.row <= row && std::ranges::equal(one.tables, tables);
  });
  if (cursor == cursors_.end()) {
    Cursor made = make_cursor(group, tables);
    std::erase_if(cursors_, [&](const Cursor& one) { return one.row == set_.groups[one.group].rows; });
    if (cursors_.size() == most) {
      cursors_.erase(std::ranges::min_element(cursors_, {}, &Cursor::used));
    }
    cursor = cursors_.insert(cursors_.end(), std::move(made));
  }
  for (std::size_t i = 0; cursor->row < row && i < 1 + set_.dense_features + tables.size(); ++i) {
    cursor->rows->skip(i, row - cursor->row);
  }
  cursor->row = row;
  cursor->used = ++uses_;
  return *cursor;
}

void ParquetSource::next(Cursor& cursor, std::size_t column, std::size_t count) {
  values_.clear();
  cursor.rows->read(column, count, values_);
}

double ParquetSource::value(std::size_t i) const {
  return values_.reals.empty() ? static_cast<double>(values_.integers[i]) : values_.reals[i];
}

void ParquetSource::fail_at(const Cursor& cursor, std::size_t row, std::size_t column, const std::string& what) const {
  const ParquetGroup& group = set_.groups[cursor.group];
  fail_parquet_value(set_.files[group.file].path, group.first + cursor.row + row, set_.columns[column], what);
}

void ParquetSource::read_labels(Cursor& cursor, std::span<float> labels) {
  next(cursor, 0, labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (values_.missing > 0 || (value(i) != 0 && value(i) != 1)) {
      fail_at(cursor, i, 0, "a label that is missing or neither 0 nor 1");
    }
    labels[i] = static_cast<float>(value(i));
  }
}

float ParquetSource::feature(std::size_t i, bool is_count) const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return is_count ? log_of_count(static_cast<std::int32_t>(std::clamp<std::int64_t>(values_.integers[i], 0, most)))
                  : static_cast<float>(value(i));
}

void ParquetSource::read_feature(Cursor& cursor, std::size_t j, std::size_t count, float* to) {
  next(cursor, 1 + j, count);
  for (std::size_t i = 0; i < count; ++i, to += set_.dense_features) {
    *to = feature(i, has_counts_);
    if (!std::isfinite(*to)) {
      fail_at(cursor, i, 1 + j, "a dense feature that is no finite number");
    }
  }
}

void ParquetSource::read_bags(Cursor& cursor, std::size_t t, std::size_t count, TableBags& bags) {
  const std::size_t table = cursor.tables[t];
  next(cursor, 1 + set_.dense_features + t, count);
  const std::uint64_t rows = all_rows_[table];
  if (const std::size_t bad = first_above(values_.integers, rows); bad < values_.integers.size()) {
    fail_at(cursor, row_of(values_, bad), 1 + set_.dense_features + table,
            "the index " + std::to_string(values_.integers[bad]) + ", where its table has " + std::to_string(rows) +
                " rows,");
  }
  if (max_ind_range_ > 0) {
    std::ranges::for_each(values_.integers, [this](std::int64_t& index) { index %= max_ind_range_; });
  }
  bags.indices.insert(bags.indices.end(), values_.integers.begin(), values_.integers.end());
  const std::size_t before = bags.offsets.size();
  bags.offsets.resize(before + count);
  for (std::size_t i = 0; i < count; ++i) {
    bags.offsets[before + i] = bags.offsets[before + i - 1] + (values_.lengths.empty() ? 1 : values_.lengths[i]);
  }
}

void ParquetSource::read_rows(Cursor& cursor, SampleRange places, Batch& batch) {
  const std::size_t features = set_.dense_features;
  const bool is_own = places.begin >= batch.range.begin && places.end <= batch.range.end;
  const std::size_t at = places.begin - batch.range.begin;
  if (is_own) {
    read_labels(cursor, std::span(batch.labels).subspan(at, places.size()));
  }
  for (std::size_t j = 0; is_own && j < features; ++j) {
    read_feature(cursor, j, places.size(), batch.dense.data() + at * features + j);
  }
  for (std::size_t i = 0; !is_own && i < 1 + features; ++i) {
    cursor.rows->skip(i, places.size());
  }
  for (std::size_t t = 0; t < cursor.tables.size(); ++t) {
    read_bags(cursor, t, places.size(), batch.tables[t]);
  }
  cursor.row += places.size();
}

void ParquetSource::read_run(std::uint64_t first, SampleRange places, const BatchPart& part, Batch& batch) {
  while (places.begin < places.end) {
    const auto after = std::ranges::upper_bound(set_.groups, first, {}, &ParquetGroup::first);
    const auto group = static_cast<std::size_t>(after - set_.groups.begin() - 1);
    const std::uint64_t row = first - set_.groups[group].first;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(places.size(), set_.groups[group].rows - row));
    read_rows(cursor_at(group, row, part.tables), {places.begin, places.begin + count}, batch);
    places.begin += count;
    first += count;
  }
}

// Of samples outside the range only bags are read.
void ParquetSource::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  for (TableBags& bags : batch.tables) {
    bags.offsets.assign(1, 0);
    bags.indices.clear();
  }
  const std::uint64_t begin = split == Split::train ? 0 : split == Split::test ? splits_[0] : splits_[0] + splits_[1];
  const SampleRange all = part.tables.empty() ? batch.range : batch.bag_range();
  for (std::size_t at = all.begin; at < all.end;) {
    const std::size_t end = at < batch.range.begin ? batch.range.begin
                            : at < batch.range.end ? batch.range.end
                                                   : all.end;
    const SampleRun run =
        split == Split::train ? order_.run(k, batch_size, at, end) : SampleRun{begin + k * batch_size + at, end - at};
    read_run(run.first, {at, at + run.count}, part, batch);
    at += run.count;
  }
}

}  // namespace tutti::miniapps
