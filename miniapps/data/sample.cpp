// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "commands.hpp"
#include "common/agree.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/parquet_set.hpp"
#include "view.hpp"

namespace tutti::data {

namespace {

using miniapps::CriteoRecord;
using miniapps::CriteoRecordFile;
using miniapps::MappedFile;
using miniapps::SidecarFile;

/// The file of some content that has a sample, and the sample's number in it.
std::pair<const SidecarFile*, std::uint64_t> find_sample(const DataSet& data, const char* content,
                                                         std::uint64_t sample) {
  for (const SidecarFile& file : data.sidecar.files) {
    if (file.content != content) {
      continue;
    }
    if (sample < file.samples) {
      return {&file, sample};
    }
    sample -= file.samples;
  }
  throw Error(ErrorCode::io, fmt::format("there is no sample {} in the files of {}", sample, content));
}

/// Label, dense features after the logarithm, and the bags of the tables: fields by tabs, indices of a bag by commas.
std::string record_line(const CriteoRecord& record) {
  std::string text = fmt::format("{}", record.label);
  for (const std::int32_t value : record.dense) {
    text += fmt::format("\t{:.6g}", miniapps::log_of_count(value));
  }
  for (const std::int32_t index : record.categories) {
    text += fmt::format("\t{}", index);
  }
  return text;
}

std::string binary_sample(const DataSet& data, std::uint64_t sample) {
  const auto [file, number] = find_sample(data, "records", sample);
  CriteoRecord record{};
  CriteoRecordFile(data.folder / file->name).read(number, {&record, 1});
  return record_line(record);
}

std::string npy_sample(const DataSet& data, std::uint64_t sample) {
  const auto path = [&](const SidecarFile* file) { return (data.folder / file->name).string(); };
  const auto [labels, number] = find_sample(data, "labels", sample);
  const MappedFile label_file(path(labels));
  const auto label = miniapps::parse_npy(label_file.content(), path(labels), "<i4", 2);
  std::string text = fmt::format("{}", label.at<std::int32_t>(number));
  const SidecarFile* dense = find_sample(data, "dense", sample).first;
  const MappedFile dense_file(path(dense));
  const auto values = miniapps::parse_npy(dense_file.content(), path(dense), "<f4", 2);
  for (std::uint64_t j = 0; j < values.shape[1]; ++j) {
    text += fmt::format("\t{:.6g}", values.at<float>(number * values.shape[1] + j));
  }
  const SidecarFile* sparse = find_sample(data, "sparse", sample).first;
  miniapps::NpzFile bags(path(sparse));
  for (std::size_t t = 0; t < data.sidecar.tables.size(); ++t) {
    const TableArrays arrays = table_arrays(bags, data, t, sparse->samples, path(sparse));
    text += '\t';
    for (std::uint64_t k = arrays.begin(number); k < arrays.begin(number + 1); ++k) {
      text += fmt::format("{}{}", k > arrays.begin(number) ? "," : "", arrays.indices.at<std::int32_t>(k));
    }
  }
  return text;
}

/// The values of one row of a file, column by column.
std::string parquet_line(const miniapps::ParquetSet& set, std::uint64_t number, const std::string& name) {
  const auto after = std::ranges::upper_bound(set.groups, number, {}, &miniapps::ParquetGroup::first);
  const miniapps::ParquetGroup& group = *(after - 1);
  const auto file = miniapps::open_parquet(name);
  const auto rows = file->rows(group.group, set.names());
  std::string text;
  for (std::size_t column = 0; column < set.columns.size(); ++column) {
    miniapps::ParquetValues values;
    rows->skip(column, number - group.first);
    rows->read(column, 1, values);
    const bool is_count = column > 0 && column <= set.dense_features && values.reals.empty();
    text += column > 0 ? "\t" : "";
    text += is_count ? fmt::format("{:.6g}", miniapps::log_of_count(static_cast<std::int32_t>(values.integers[0])))
            : values.reals.empty() ? fmt::format("{}", fmt::join(values.integers, ","))
                                   : fmt::format("{:.6g}", values.reals[0]);
  }
  return text;
}

std::string parquet_sample(const DataSet& data, std::uint64_t sample) {
  const auto [file, number] = find_sample(data, "samples", sample);
  const std::string name = (data.folder / file->name).string();
  return parquet_line(miniapps::describe_parquet({name}, {}), number, name);
}

}  // namespace

void sample(const Communicator& comm, const ViewOptions& options) {
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() != 0) {
      return;
    }
    const DataSet data = open_data(options.data);
    const std::uint64_t all = data.sidecar.samples();
    if (options.first >= all) {
      throw Error(ErrorCode::invalid_argument, fmt::format("--first {}: the data have {} samples", options.first, all));
    }
    const auto text_of = data.sidecar.format == miniapps::criteo_binary_format    ? binary_sample
                         : data.sidecar.format == miniapps::criteo_parquet_format ? parquet_sample
                                                                                  : npy_sample;
    for (std::uint64_t s = options.first; s < std::min(all, options.first + options.count); ++s) {
      fmt::print("{}\n", text_of(data, s));
    }
  });
}

}  // namespace tutti::data
