// SPDX-License-Identifier: BSD-3-Clause
#include "day_arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <tutti/error.hpp>

#include "criteo_binary.hpp"
#include "data/day_files.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_day(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

/// What the arrays themselves say, with the rows that are given.
Sidecar sidecar_of_arrays(const DayArraysOptions& options) {
  Sidecar sidecar = describe_array_days(options.folder);
  if (options.rows.size() != sidecar.tables.size()) {
    fail_day(options.folder, "has " + std::to_string(sidecar.tables.size()) + " tables, but rows are given for " +
                                 std::to_string(options.rows.size()) + "; name the rows of each table");
  }
  for (std::size_t t = 0; t < options.rows.size(); ++t) {
    sidecar.tables[t].rows = options.rows[t];
  }
  return sidecar;
}

Sidecar sidecar_of_days(const DayArraysOptions& options) {
  const fs::path path = sidecar_path(options.folder);
  if (!fs::exists(path)) {
    return sidecar_of_arrays(options);
  }
  Sidecar sidecar = read_sidecar(path);
  if (sidecar.format != criteo_npy_format) {
    fail_day(path, "is no sidecar of day files");
  }
  check_sidecar_files(path, sidecar);
  return sidecar;
}

std::vector<std::uint64_t> rows_of_tables(const Sidecar& sidecar) {
  std::vector<std::uint64_t> rows;
  std::ranges::transform(sidecar.tables, std::back_inserter(rows), &SidecarTable::rows);
  return rows;
}

std::vector<const SidecarFile*> files_of(const Sidecar& sidecar, const std::string& content) {
  std::vector<const SidecarFile*> files;
  for (const SidecarFile& file : sidecar.files) {
    if (file.content == content) {
      files.push_back(&file);
    }
  }
  return files;
}

void require_shape(const NpyArray& array, const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  if (array.rows() != rows || array.elements() != rows * columns) {
    fail_day(name, "has another shape than the " + std::to_string(rows) + " x " + std::to_string(columns) +
                       " of its sidecar; convert the data again");
  }
}

}  // namespace

DayArrays::DayArrays(const DayArraysOptions& options)
    : sidecar_(sidecar_of_days(options)),
      folder_(options.folder),
      max_ind_range_(options.max_ind_range),
      rows_(capped_rows(rows_of_tables(sidecar_), options.max_ind_range)),
      order_(without_days(options.shuffle), options.seed, std::array{sidecar_.train}) {
  const auto dense = files_of(sidecar_, "dense");
  const auto labels = files_of(sidecar_, "labels");
  const auto sparse = files_of(sidecar_, "sparse");
  if (dense.size() != labels.size() || dense.size() != sparse.size()) {
    fail_day(sidecar_path(folder_), "does not name one file of dense, labels and sparse for each day");
  }
  for (std::size_t day = 0; day < dense.size(); ++day) {
    add_day({dense[day], labels[day], sparse[day]}, folder_);
  }
}

void DayArrays::add_day(const std::array<const SidecarFile*, 3>& files, const fs::path& folder) {
  const auto path = [&](std::size_t i) { return folder / files[i]->name; };
  const std::uint64_t samples = files[0]->samples;
  Day day{days_.empty() ? 0 : days_.back().first + days_.back().dense.rows(), {}, {}, {}};
  const auto array = [&](std::size_t i, const char* type) {
    return parse_npy(files_.emplace_back(path(i)).content(), path(i).string(), type, 2);
  };
  day.dense = array(0, "<f4");
  day.labels = array(1, "<i4");
  require_shape(day.dense, path(0).string(), samples, dense_features());
  require_shape(day.labels, path(1).string(), samples, 1);
  NpzFile& zip = zips_.emplace_back(path(2));
  for (std::size_t t = 0; t < sidecar_.tables.size(); ++t) {
    const SidecarTable& table = sidecar_.tables[t];
    const std::string number = std::to_string(t);
    const std::string name = path(2).string() + ", member " + number;
    Bags bags{zip.array(number + ".npy", "<i4", table.ragged ? 1 : 2), {}, table.hotness};
    if (table.ragged) {
      bags.offsets = zip.array(number + "_offsets.npy", "<i8", 1);
      require_shape(bags.offsets, name + "_offsets", samples + 1, 1);
    } else {
      require_shape(bags.indices, name, samples, table.hotness);
    }
    day.tables.push_back(std::move(bags));
  }
  days_.push_back(std::move(day));
}

std::vector<double> DayArrays::mean_lookups() const {
  std::vector<double> means;
  for (const SidecarTable& table : sidecar_.tables) {
    means.push_back(static_cast<double>(table.lookups) /
                    static_cast<double>(std::max<std::uint64_t>(sidecar_.samples(), 1)));
  }
  return means;
}

std::vector<LookupCounts> DayArrays::lookup_counts() const {
  return max_ind_range_ > 0 ? std::vector<LookupCounts>() : miniapps::lookup_counts(sidecar_);
}

std::uint64_t DayArrays::samples(Split split) const {
  switch (split) {
    case Split::train:
      return sidecar_.train;
    case Split::test:
      return sidecar_.test;
    case Split::validation:
      return sidecar_.validation;
  }
  return 0;
}

std::string DayArrays::description() const {
  return "Day files " + folder_.string() + ", " + std::to_string(sidecar_.train) + " training and " +
         std::to_string(sidecar_.test) + " test samples";
}

DayArrays::Row DayArrays::find(std::uint64_t sample) const {
  const auto after = std::ranges::upper_bound(days_, sample, {}, &Day::first);
  const Day& day = *(after - 1);
  return {&day, sample - day.first};
}

void DayArrays::find_rows(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range) {
  const bool train = split == Split::train;
  const std::uint64_t begin = train ? 0 : split == Split::test ? sidecar_.train : sidecar_.train + sidecar_.test;
  std::vector<std::uint64_t> numbers(range.size());
  if (!train) {
    std::iota(numbers.begin(), numbers.end(), begin + k * batch_size + range.begin);
  } else if (!order_.has_runs()) {
    order_.number(k * batch_size + range.begin, numbers);
  } else {
    for (std::size_t at = range.begin; at < range.end;) {
      const SampleRun run = order_.run(k, batch_size, at, range.end);
      const auto to = numbers.begin() + static_cast<std::ptrdiff_t>(at - range.begin);
      std::iota(to, to + static_cast<std::ptrdiff_t>(run.count), run.first);
      at += run.count;
    }
  }
  found_.resize(numbers.size());
  std::ranges::transform(numbers, found_.begin(), [this](std::uint64_t number) { return find(number); });
}

void DayArrays::put_dense(Row from, float* dense, float& label) const {
  const std::size_t features = dense_features();
  std::memcpy(dense, from.day->dense.data.data() + from.row * features * sizeof(float), features * sizeof(float));
  const auto value = from.day->labels.at<std::int32_t>(from.row);
  const bool good = std::all_of(dense, dense + features, [](float x) { return std::isfinite(x); });
  if ((value != 0 && value != 1) || !good) {
    fail_day(folder_,
             "sample " + std::to_string(from.day->first + from.row) +
                 (good ? " has a label that is neither 0 nor 1" : " has a dense feature that is not a number"));
  }
  label = static_cast<float>(value);
}

void DayArrays::fail_index(Row from, std::size_t table, std::int64_t index) const {
  fail_day(folder_, "sample " + std::to_string(from.day->first + from.row) + " has the index " + std::to_string(index) +
                        " in table " + std::to_string(table) + " of " + std::to_string(sidecar_.tables[table].rows) +
                        " rows; give the table more rows, or correct the index");
}

void DayArrays::put_bags(std::size_t table, std::span<const Row> rows, TableBags& bags) const {
  bags.offsets.assign(1, 0);
  bags.indices.clear();
  const std::uint64_t most = sidecar_.tables[table].rows;
  for (const Row& from : rows) {
    const Bags& all = from.day->tables[table];
    const bool ragged = !all.offsets.shape.empty();
    const auto end_of = [&](std::uint64_t row) {
      return ragged ? static_cast<std::uint64_t>(all.offsets.at<std::int64_t>(row)) : row * all.hotness;
    };
    const std::uint64_t end = end_of(from.row + 1);
    if (end > all.indices.elements() || end_of(from.row) > end) {
      fail_day(folder_, "table " + std::to_string(table) + ": offsets of sample " +
                            std::to_string(from.day->first + from.row) + " are not within its indices");
    }
    for (std::uint64_t i = end_of(from.row); i < end; ++i) {
      const std::int64_t id = all.indices.at<std::int32_t>(i);
      if (id < 0 || static_cast<std::uint64_t>(id) >= most) {
        fail_index(from, table, id);
      }
      bags.indices.push_back(max_ind_range_ > 0 ? id % max_ind_range_ : id);
    }
    bags.offsets.push_back(static_cast<std::int64_t>(bags.indices.size()));
  }
}

void DayArrays::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  const SampleRange bagged = part.tables.empty() ? batch.range : batch.bag_range();
  find_rows(split, batch_size, k, bagged);
  const std::span<const Row> own = std::span(found_).subspan(batch.range.begin - bagged.begin, batch.range.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    put_dense(own[i], batch.dense.data() + i * dense_features(), batch.labels[i]);
  }
  for (std::size_t t = 0; t < part.tables.size(); ++t) {
    put_bags(part.tables[t], found_, batch.tables[t]);
  }
}

}  // namespace tutti::miniapps
