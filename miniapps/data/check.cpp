// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <tutti/error.hpp>

#include "commands.hpp"
#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/parquet_set.hpp"
#include "view.hpp"

namespace tutti::data {

namespace {

using miniapps::CriteoRecord;
using miniapps::CriteoRecordFile;
using miniapps::MappedFile;
using miniapps::NpyArray;
using miniapps::NpzFile;
using miniapps::ParquetGroup;
using miniapps::ParquetSet;
using miniapps::ParquetValues;
using miniapps::SidecarFile;

[[noreturn]] void fail_check(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::io, name + ": " + what);
}

void check_crc(const std::string& name, const SidecarFile& file) {
  const MappedFile mapped(name);
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(mapped.content().data()), mapped.content().size());
  if (crc != file.crc32) {
    fail_check(name,
               fmt::format("has CRC-32 {:08x} where its sidecar says {:08x}; convert the data again", crc, file.crc32));
  }
}

void check_index(const DataSet& data, const std::string& name, std::size_t t, std::uint64_t sample,
                 std::int64_t index) {
  const std::uint64_t rows = data.sidecar.tables[t].rows;
  if (index < 0 || static_cast<std::uint64_t>(index) >= rows) {
    fail_check(name, fmt::format("sample {}: index {} of table {} is not below its {} rows", sample, index, t, rows));
  }
}

void check_records(const DataSet& data, const std::string& name) {
  constexpr std::size_t block = 4096;
  const CriteoRecordFile file(name);
  std::vector<CriteoRecord> records(block);
  for (std::uint64_t first = 0; first < file.size(); first += block) {
    records.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block, file.size() - first)));
    file.read(first, records);
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (std::size_t t = 0; t < miniapps::criteo_tables; ++t) {
        check_index(data, name, t, first + i, records[i].categories[t]);
      }
    }
  }
}

void check_shape(const NpyArray& array, const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  if (array.shape[0] != rows || array.shape[1] != columns) {
    fail_check(name, fmt::format("has {} x {} elements where its sidecar says {} x {}", array.shape[0], array.shape[1],
                                 rows, columns));
  }
}

void check_dense(const DataSet& data, const std::string& name, std::uint64_t samples) {
  const MappedFile file(name);
  const NpyArray array = miniapps::parse_npy(file.content(), name, "<f4", 2);
  check_shape(array, name, samples, data.sidecar.dense_features);
  for (std::uint64_t i = 0; i < array.elements(); ++i) {
    if (!std::isfinite(array.at<float>(i))) {
      fail_check(name, fmt::format("sample {} has a feature that is no finite number", i / array.shape[1]));
    }
  }
}

void check_labels(const std::string& name, std::uint64_t samples) {
  const MappedFile file(name);
  const NpyArray array = miniapps::parse_npy(file.content(), name, "<i4", 2);
  check_shape(array, name, samples, 1);
  for (std::uint64_t i = 0; i < samples; ++i) {
    if (array.at<std::uint32_t>(i) > 1) {
      fail_check(name, fmt::format("sample {} has a label that is neither 0 nor 1", i));
    }
  }
}

void check_sparse(const DataSet& data, const std::string& name, std::uint64_t samples) {
  NpzFile file(name);
  for (std::size_t t = 0; t < data.sidecar.tables.size(); ++t) {
    const TableArrays arrays = table_arrays(file, data, t, samples, name);
    for (std::uint64_t s = 0; s < samples; ++s) {
      const std::uint64_t end = arrays.begin(s + 1);
      if (end < arrays.begin(s) || end > arrays.indices.elements()) {
        fail_check(name, fmt::format("sample {}: the offsets of table {} do not ascend", s, t));
      }
      for (std::uint64_t k = arrays.begin(s); k < end; ++k) {
        check_index(data, name, t, s, arrays.indices.at<std::int32_t>(k));
      }
    }
  }
}

/// The values of one column of a row group of the only file of a set.
void check_column(const DataSet& data, const std::string& name, const ParquetSet& set, const ParquetGroup& group,
                  std::size_t column, const ParquetValues& values) {
  const auto fail = [&](std::size_t element, const std::string& what) {
    miniapps::fail_parquet_value(name, group.first + miniapps::row_of(values, element), set.columns[column], what);
  };
  if (values.missing > 0) {
    fail(0, "a value that is missing, in this row group,");
  }
  if (column == 0 || column > set.dense_features) {
    const std::uint64_t rows = column == 0 ? 2 : data.sidecar.tables[column - 1 - set.dense_features].rows;
    if (const auto bad = miniapps::first_above(values.integers, rows); bad < values.integers.size()) {
      fail(bad, fmt::format("{}, which is not below {},", values.integers[bad], rows));
    }
  }
  for (std::size_t i = 0; i < values.reals.size(); ++i) {
    if (!std::isfinite(values.reals[i])) {
      fail(i, "a feature that is no finite number");
    }
  }
}

void check_parquet(const DataSet& data, const std::string& name, std::uint64_t samples) {
  const ParquetSet set = miniapps::describe_parquet({name}, {});
  if (set.samples() != samples || set.dense_features != data.sidecar.dense_features ||
      set.tables().size() != data.sidecar.tables.size()) {
    fail_check(name, "has other samples, features or tables than its sidecar says");
  }
  const auto file = miniapps::open_parquet(name);
  ParquetValues values;
  for (const ParquetGroup& group : set.groups) {
    const auto rows = file->rows(group.group, set.names());
    for (std::size_t column = 0; column < set.columns.size(); ++column) {
      values.clear();
      rows->read(column, group.rows, values);
      check_column(data, name, set, group, column, values);
    }
  }
}

void check_file(const DataSet& data, const SidecarFile& file) {
  const std::string name = (data.folder / file.name).string();
  check_crc(name, file);
  if (file.content == "records") {
    check_records(data, name);
  } else if (file.content == "dense") {
    check_dense(data, name, file.samples);
  } else if (file.content == "labels") {
    check_labels(name, file.samples);
  } else if (file.content == "sparse") {
    check_sparse(data, name, file.samples);
  } else if (file.content == "samples") {
    check_parquet(data, name, file.samples);
  }
}

}  // namespace

void check(const Communicator& comm, const ViewOptions& options) {
  DataSet data;
  miniapps::run_agreed(comm, [&] { data = open_data(options.data); });
  const auto& files = data.sidecar.files;
  command_line::Progress progress("files", files.size(), comm.rank() == 0);
  miniapps::run_agreed(comm, [&] {
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (std::size_t f = static_cast<std::size_t>(comm.rank()); f < files.size(); f += ranks) {
      check_file(data, files[f]);
      progress.update(f + 1);
    }
  });
  if (comm.rank() == 0) {
    fmt::print("{}: {} files are whole, {} samples\n", options.data, files.size(), data.sidecar.samples());
  }
}

}  // namespace tutti::data
