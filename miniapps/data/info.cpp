// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <numeric>
#include <tutti/error.hpp>

#include "commands.hpp"
#include "common/agree.hpp"
#include "view.hpp"

namespace tutti::data {

namespace {

using miniapps::SidecarTable;

double percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::string table_line(std::size_t t, const SidecarTable& table) {
  const auto& f = table.counts;
  const std::uint64_t used = std::accumulate(f.bucket_rows.begin(), f.bucket_rows.end(), std::uint64_t{0});
  const std::uint64_t hot = std::accumulate(f.hottest.begin(), f.hottest.end(), std::uint64_t{0},
                                            [](std::uint64_t sum, const auto& row) { return sum + row.second; });
  const std::uint64_t top = f.hottest.empty() ? 0 : f.hottest[0].second;
  return fmt::format("{:5} {:>11} {:>11} {:>8} {:>13} {:>9.2f} {:>12.2f}\n", t, table.rows, used,
                     fmt::format("{}{}", table.ragged ? "0-" : "", table.hotness), table.lookups,
                     percent(top, table.lookups), percent(hot, table.lookups));
}

}  // namespace

void info(const Communicator& comm, const ViewOptions& options) {
  DataSet data;
  miniapps::run_agreed(comm, [&] { data = open_data(options.data); });
  if (comm.rank() != 0) {
    return;
  }
  const auto& s = data.sidecar;
  fmt::print("{}: {} training, {} test and {} validation samples\n", s.format, s.train, s.test, s.validation);
  fmt::print("dense: {} features, {}\n", s.dense_features,
             s.dense_rule == "given"  ? "as the input had them"
             : s.dense_rule == "log3" ? "log(max(x, -2) + 3)"
                                      : "log(max(x, 0) + 1)");
  fmt::print("dictionary: {}{}{}\n", s.dictionary_rule,
             s.threshold > 0 ? fmt::format(", ids that occur less than {} times share row 0", s.threshold) : "",
             s.hash_rows > 0 ? fmt::format(", {} rows", s.hash_rows) : "");
  fmt::print("{:>5} {:>11} {:>11} {:>8} {:>13} {:>9} {:>12}\n", "table", "rows", "used rows", "hotness", "lookups",
             "top row %", "top 4,096 %");
  for (std::size_t t = 0; t < s.tables.size(); ++t) {
    fmt::print("{}", table_line(t, s.tables[t]));
  }
  for (const auto& file : s.files) {
    fmt::print("{}: {}, {} bytes, CRC-32 {:08x}\n", file.name, file.content, file.bytes, file.crc32);
  }
}

DataSet open_data(const std::string& name) {
  const bool is_sidecar = name.ends_with(".json") && std::filesystem::is_regular_file(name);
  const std::filesystem::path path = is_sidecar ? std::filesystem::path(name) : miniapps::sidecar_path(name);
  if (!std::filesystem::exists(path)) {
    throw Error(ErrorCode::io, path.string() + ": is not there; name the output of tutti-data convert or generate");
  }
  DataSet data{path.parent_path(), miniapps::read_sidecar(path)};
  check_sidecar_files(path, data.sidecar);
  return data;
}

TableArrays table_arrays(miniapps::NpzFile& file, const DataSet& data, std::size_t t, std::uint64_t samples,
                         const std::string& name) {
  const SidecarTable& table = data.sidecar.tables[t];
  const std::string member = fmt::format("{}.npy", t);
  TableArrays arrays;
  arrays.indices = file.array(member, "<i4", table.ragged ? 1 : 2);
  bool fits = table.ragged || (arrays.indices.shape[0] == samples && arrays.indices.shape[1] == table.hotness);
  if (table.ragged) {
    arrays.offsets = file.array(fmt::format("{}_offsets.npy", t), "<i8", 1);
    fits =
        arrays.offsets.rows() == samples + 1 && arrays.begin(0) == 0 && arrays.begin(samples) == arrays.indices.rows();
  } else {
    arrays.hotness = table.hotness;
  }
  if (!fits) {
    throw Error(ErrorCode::io, name + ": member " + member + " does not have the shape that its sidecar says");
  }
  return arrays;
}

}  // namespace tutti::data
