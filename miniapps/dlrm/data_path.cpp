// SPDX-License-Identifier: BSD-3-Clause
#include "data_path.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "common/agree.hpp"
#include "common/criteo_binary.hpp"
#include "common/data/day_files.hpp"
#include "common/data/packed_text.hpp"
#include "common/data/sidecar.hpp"
#include "common/day_arrays.hpp"
#include "common/parquet_source.hpp"

namespace dlrm {

namespace fs = std::filesystem;
namespace mini = tutti::miniapps;

namespace {

constexpr const char* adult_file = "adult.data.gz";
constexpr std::size_t criteo_fields = 1 + mini::criteo_dense + mini::criteo_tables;

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  throw tutti::Error(tutti::ErrorCode::io, "--data=" + path.string() + ": " + what +
                                               "; name Criteo text of 40 fields a line or a folder of it (day_0, "
                                               "...), the PREFIX of PREFIX_train.bin and PREFIX_test.bin, a folder of "
                                               "arrays (day_0_dense.npy, ...), Parquet, or a folder with " +
                                               adult_file);
}

/// The beginning of a file, as much as a line of Criteo may have.
std::string head_of(const fs::path& path) {
  constexpr std::size_t most = 4096;
  std::string head(most, '\0');
  if (mini::packing_of(path) != mini::Packing::none) {
    try {
      (void)mini::PackedText(path).next(most, head);
      return head;
    } catch (const tutti::Error& error) {
      if (error.code() == tutti::ErrorCode::not_supported) {
        throw;
      }
      refuse(path, "is a damaged or truncated file of gzip or zstd");
    }
  }
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

DataKind kind_of_file(const fs::path& path) {
  if (mini::is_parquet(path)) {
    return DataKind::parquet;
  }
  const std::string head = head_of(path);
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  const auto fields = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  if (fields != criteo_fields) {
    refuse(path, "its first line has " + std::to_string(fields) + " fields with tabs between");
  }
  return DataKind::text;
}

DataKind kind_of_folder(const fs::path& path) {
  if (mini::has_parquet_files(path)) {
    return DataKind::parquet;
  }
  if (fs::exists(mini::sidecar_path(path)) || mini::has_array_days(path)) {
    return DataKind::days;
  }
  if (const auto days = mini::text_days(path); !days.empty()) {
    return kind_of_file(days.front());
  }
  if (!fs::exists(path / adult_file)) {
    refuse(path, "is a folder without data");
  }
  return DataKind::adult;
}

}  // namespace

std::string binary_prefix(const std::string& path) {
  for (const std::string_view suffix : {"_train.bin", "_test.bin", "_val.bin", ".json"}) {
    if (path.ends_with(suffix)) {
      return path.substr(0, path.size() - suffix.size());
    }
  }
  return path;
}

DataKind data_kind(const fs::path& path) {
  if (fs::exists(mini::criteo_binary_files(binary_prefix(path))[0])) {
    return DataKind::binary;
  }
  if (fs::is_directory(path)) {
    return kind_of_folder(path);
  }
  if (!fs::exists(path)) {
    refuse(path, "there is no such file");
  }
  return kind_of_file(path);
}

void name_data(const tutti::Communicator& comm, Options& o) {
  if (o.data.empty()) {
    return;
  }
  const std::string path = std::exchange(o.data, {});
  auto kind = DataKind::text;
  mini::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      kind = data_kind(path);
    }
  });
  tutti::bcast(comm, tutti::Buffer(reinterpret_cast<std::uint8_t*>(&kind), 1), 0);
  o.day_files = kind == DataKind::days;
  o.parquet = kind == DataKind::parquet;
  if (kind == DataKind::binary || o.day_files || o.parquet) {
    o.processed_data_file = kind == DataKind::binary ? binary_prefix(path) : path;
  } else {
    o.raw_data_file = path;
  }
  if (o.day_files || o.parquet) {
    o.indices_per_feature.clear();  // of a preset: the data have bags of their own
  }
  if (kind == DataKind::adult) {
    o.data_set = "adult";
  } else if (o.data_set == "adult") {
    o.data_set = "kaggle";
  }
  mini::run_agreed(comm, [&] { validate(o); });
}

std::vector<std::uint64_t> rows_of_files(const tutti::Communicator& comm, const Options& o) {
  if (reads_binary(o)) {
    return mini::criteo_binary_rows(comm, o.processed_data_file);
  }
  const bool has_sidecar = fs::exists(mini::sidecar_path(o.processed_data_file));
  if ((!o.day_files && !o.parquet) || (o.day_files && has_sidecar)) {
    return {};
  }
  if (o.embedding_size_given && o.max_ind_range <= 0 && !has_sidecar) {
    return {o.embedding_size.begin(), o.embedding_size.end()};
  }
  return o.parquet ? mini::parquet_rows(comm, o.processed_data_file, o.parquet_names)
                   : mini::array_day_rows(comm, o.processed_data_file);
}

}  // namespace dlrm
