// SPDX-License-Identifier: BSD-3-Clause
#include "parquet_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/data/day_files.hpp"
#include "piece_parser.hpp"

namespace tutti::data {

namespace {

namespace fs = std::filesystem;
using miniapps::ParquetColumn;
using miniapps::ParquetGroup;
using miniapps::ParquetSet;
using miniapps::ParquetValues;

/// Rows [first, end) of a row group of the set, which are within one day.
struct GroupPiece {
  std::size_t group;
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t day;
  std::uint64_t number;
  bool is_last;
};

std::vector<GroupPiece> group_pieces(const ParquetInput& input, std::uint64_t part_bytes) {
  const ParquetSet& set = input.set;
  const auto values = std::accumulate(set.columns.begin(), set.columns.end(), std::uint64_t{0},
                                      [](std::uint64_t sum, const ParquetColumn& c) { return sum + c.values; });
  const std::uint64_t size =
      std::max<std::uint64_t>(part_bytes * set.samples() / (4 * std::max<std::uint64_t>(values, 1)), 1);
  std::vector<GroupPiece> pieces;
  std::uint64_t day = 0;
  std::uint64_t number = 0;
  for (std::size_t g = 0; g < set.groups.size(); ++g) {
    const ParquetGroup& group = set.groups[g];
    for (std::uint64_t at = group.first; at < group.first + group.rows;) {
      const std::uint64_t end = std::min({at + size, group.first + group.rows, input.day_ends[day]});
      const bool is_last = end == input.day_ends[day];
      pieces.push_back({g, at - group.first, end - group.first, day, number, is_last});
      number = is_last ? 0 : number + 1;
      day += is_last ? 1 : 0;
      at = end;
    }
  }
  return pieces;
}

/// The values of a row group as samples, one piece after the other.
class GroupReader {
 public:
  GroupReader(const ParquetInput& input, std::size_t group)
      : input_(input),
        group_(input.set.groups[group]),
        path_(input.set.files[group_.file].path),
        file_(miniapps::open_parquet(path_)),
        rows_(file_->rows(group_.group, input.set.names())) {}

  [[nodiscard]] Samples read(std::uint64_t first, std::uint64_t end) {
    pass_to(first);
    const std::uint64_t count = end - first;
    Samples samples(input_.set.dense_features, input_.set.tables().size());
    read_labels(count, samples.labels);
    for (std::size_t j = 0; j < samples.dense.size(); ++j) {
      read_dense(1 + j, count, samples.dense[j]);
    }
    const bool has_lists = input_.set.has_lists();
    for (std::size_t t = 0; t < samples.ids.size(); ++t) {
      read_ids(1 + samples.dense.size() + t, count, samples.ids[t]);
      if (has_lists) {
        samples.lengths[t] = values_.lengths.empty() ? std::vector<std::uint32_t>(count, 1) : values_.lengths;
      }
    }
    row_ = end;
    return samples;
  }

 private:
  void pass_to(std::uint64_t row) {
    for (std::size_t i = 0; row_ < row && i < input_.set.columns.size(); ++i) {
      rows_->skip(i, row - row_);
    }
    row_ = row;
  }
  void next(std::size_t column, std::uint64_t count) {
    values_.clear();
    rows_->read(column, count, values_);
  }
  [[noreturn]] void fail_element(std::size_t column, std::size_t element, const std::string& what) const {
    miniapps::fail_parquet_value(path_, group_.first + row_ + miniapps::row_of(values_, element),
                                 input_.set.columns[column], what);
  }
  [[nodiscard]] double number(std::size_t i) const {
    return values_.reals.empty() ? static_cast<double>(values_.integers[i]) : values_.reals[i];
  }

  void read_labels(std::uint64_t count, std::vector<std::int32_t>& labels) {
    next(0, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (values_.missing > 0 || (number(i) != 0 && number(i) != 1)) {
        fail_element(0, i, "a label that is missing or neither 0 nor 1");
      }
      labels.push_back(static_cast<std::int32_t>(number(i)));
    }
  }
  void read_dense(std::size_t column, std::uint64_t count, std::vector<std::int32_t>& features) {
    next(column, count);
    features.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      features[i] = input_.dense_rule == DenseRule::given ? real_bits(column, i) : integer(column, i);
    }
  }
  [[nodiscard]] std::int32_t real_bits(std::size_t column, std::size_t i) const {
    const auto value = static_cast<float>(number(i));
    if (!std::isfinite(value)) {
      fail_element(column, i, "a dense feature that is no finite number");
    }
    return std::bit_cast<std::int32_t>(value);
  }
  [[nodiscard]] std::int32_t integer(std::size_t column, std::size_t i) const {
    const double value = number(i);
    const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                      value <= std::numeric_limits<std::int32_t>::max() && value == std::floor(value);
    if (!fits) {
      fail_element(column, i, "a dense feature that is no integer of 32 bits (omit --dense to keep reals),");
    }
    return static_cast<std::int32_t>(value);
  }
  void read_ids(std::size_t column, std::uint64_t count, std::vector<std::uint32_t>& ids) {
    next(column, count);
    if (input_.has_rows) {
      constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
      if (const std::size_t bad = miniapps::first_above(values_.integers, most); bad < values_.integers.size()) {
        fail_element(column, bad,
                     fmt::format("{}, which is no row below 2^31 - 1 (number ids by --numbering first),",
                                 values_.integers[bad]));
      }
    }
    ids.resize(values_.integers.size());
    std::ranges::transform(values_.integers, ids.begin(), miniapps::id_of_integer);
  }

  const ParquetInput& input_;
  const ParquetGroup& group_;
  fs::path path_;
  std::unique_ptr<miniapps::ParquetFile> file_;
  std::unique_ptr<miniapps::ParquetRows> rows_;
  std::uint64_t row_ = 0;
  ParquetValues values_{};
};

bool names_parquet(const std::string& input) {
  return fs::is_directory(input) ? miniapps::has_parquet_files(input)
                                 : miniapps::is_parquet(input) || input.ends_with(".parquet");
}

}  // namespace

std::uint64_t ParquetInput::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& file : set.files) {
    sum += fs::file_size(file.path);
  }
  return sum;
}

std::string ParquetInput::describe(std::uint64_t part_bytes) const {
  std::string text = fmt::format("parquet 1 {} {} {} {}\n{}\n", part_bytes, has_rows, dense_rule == DenseRule::given,
                                 fmt::join(day_ends, "-"), fmt::join(set.names(), ","));
  for (const auto& file : set.files) {
    text += file_identity(file.path);
  }
  return text;
}

std::optional<ParquetInput> find_parquet(const std::vector<std::string>& inputs, const miniapps::ParquetNames& names,
                                         DenseRule dense_rule, std::uint64_t days) {
  const auto found = static_cast<std::size_t>(std::ranges::count_if(inputs, names_parquet));
  if (found == 0) {
    return std::nullopt;
  }
  if (found < inputs.size()) {
    const auto other = std::ranges::find_if_not(inputs, names_parquet);
    throw Error(ErrorCode::io,
                *other + ": is no file or folder of Parquet, which others are; convert them by themselves");
  }
  ParquetInput input{miniapps::describe_parquet(inputs, names), false, dense_rule, {}};
  if (dense_rule == DenseRule::automatic) {
    input.dense_rule = input.set.has_counts() ? DenseRule::log1p : DenseRule::given;
  }
  if (days > input.set.samples()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--days {} is above the {} samples; lower it", days, input.set.samples()));
  }
  input.day_ends = days > 0 ? miniapps::cut_in_days(input.set.samples(), days) : input.set.day_ends;
  return input;
}

void part_parquet(const Communicator& comm, const Workspace& workspace, const ParquetInput& input,
                  std::uint64_t part_bytes) {
  const auto pieces = group_pieces(input, part_bytes);
  command_line::Progress progress("row groups", pieces.size(), comm.rank() == 0);
  PieceParser<ParquetInput, GroupReader> parser(comm, workspace, input, input.set.tables().size());
  miniapps::run_agreed(comm, [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      parser.run(pieces[i], pieces[i].group, pieces[i].group);
      progress.update(i + 1);
    }
  });
}

std::vector<std::uint64_t> bag_lengths(const Communicator& comm, const ParquetInput& input, const Catalog& catalog,
                                       bool& is_ragged) {
  std::vector<std::uint64_t> most(input.set.tables().size(), 1);
  is_ragged = false;
  if (!input.set.has_lists()) {
    return most;
  }
  std::ranges::fill(most, 0);
  std::vector<std::uint64_t> least(most.size(), std::numeric_limits<std::uint64_t>::max());
  for_each_part(comm, catalog, [&](const PartFile* part, std::size_t) {
    for (std::size_t t = 0; part != nullptr && t < most.size(); ++t) {
      const auto [low, high] = std::ranges::minmax(part->lengths(t));
      least[t] = std::min<std::uint64_t>(least[t], low);
      most[t] = std::max<std::uint64_t>(most[t], high);
    }
  });
  allreduce(comm, in_place, least, min);
  allreduce(comm, in_place, most, max);
  is_ragged = least != most || std::ranges::count(most, std::uint64_t{0}) > 0;
  return most;
}

}  // namespace tutti::data
