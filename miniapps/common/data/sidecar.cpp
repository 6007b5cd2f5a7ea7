// SPDX-License-Identifier: BSD-3-Clause
#include "sidecar.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tutti/error.hpp>

#include "common/show/text_file.hpp"

namespace tutti::miniapps {

namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;

[[noreturn]] void fail_sidecar(const std::filesystem::path& path, const std::string& what) {
  constexpr std::size_t most = 120;
  throw Error(ErrorCode::io, path.string() + ": " + what.substr(0, most));
}

Json buckets_json(const RowFrequencies& frequencies) {
  Json list = Json::array();
  for (std::size_t b = 0; b < frequencies.bucket_rows.size(); ++b) {
    if (frequencies.bucket_rows[b] > 0) {
      list.push_back({b, frequencies.bucket_rows[b], frequencies.bucket_lookups[b]});
    }
  }
  return list;
}

Json table_json(const SidecarTable& table) {
  return {{"rows", table.rows},
          {"lookups", table.lookups},
          {"hotness", table.hotness},
          {"ragged", table.ragged},
          {"ids", table.ids},
          {"buckets", buckets_json(table.frequencies)},
          {"hottest", table.frequencies.hottest}};
}

Json file_json(const SidecarFile& file) {
  return {{"name", file.name},
          {"content", file.content},
          {"samples", file.samples},
          {"bytes", file.bytes},
          {"crc32", file.crc32}};
}

Json to_json(const Sidecar& sidecar) {
  Json json{{"tutti_data", version},
            {"format", sidecar.format},
            {"samples", {{"train", sidecar.train}, {"test", sidecar.test}, {"validation", sidecar.validation}}},
            {"dense", {{"features", sidecar.dense_features}, {"rule", sidecar.dense_rule}}},
            {"dictionary",
             {{"rule", sidecar.dictionary_rule}, {"threshold", sidecar.threshold}, {"hash_rows", sidecar.hash_rows}}}};
  json["tables"] = Json::array();
  for (const SidecarTable& table : sidecar.tables) {
    json["tables"].push_back(table_json(table));
  }
  json["files"] = Json::array();
  for (const SidecarFile& file : sidecar.files) {
    json["files"].push_back(file_json(file));
  }
  return json;
}

/// A whole number, 0 or above: a conversion of the parser would take -1 and 1.5 too.
std::uint64_t number(const Json& json) {
  if (!json.is_number_unsigned()) {
    throw std::invalid_argument("'" + json.dump().substr(0, 40) + "' is not a whole number");
  }
  return json.get<std::uint64_t>();
}

SidecarTable read_table(const Json& json) {
  SidecarTable table{number(json.at("rows")),       number(json.at("lookups")), number(json.at("hotness")),
                     json.at("ragged").get<bool>(), number(json.at("ids")),     {}};
  for (const Json& bucket : json.at("buckets")) {
    const std::uint64_t b = number(bucket.at(0));
    table.frequencies.bucket_rows.at(b) = number(bucket.at(1));
    table.frequencies.bucket_lookups.at(b) = number(bucket.at(2));
  }
  for (const Json& row : json.at("hottest")) {
    table.frequencies.hottest.emplace_back(number(row.at(0)), number(row.at(1)));
  }
  return table;
}

SidecarFile read_file(const Json& json) {
  const std::uint64_t crc32 = number(json.at("crc32"));
  return {json.at("name").get<std::string>(), json.at("content").get<std::string>(), number(json.at("samples")),
          number(json.at("bytes")), static_cast<std::uint32_t>(crc32)};
}

Sidecar from_json(const Json& json) {
  Sidecar sidecar;
  sidecar.format = json.at("format").get<std::string>();
  sidecar.train = number(json.at("samples").at("train"));
  sidecar.test = number(json.at("samples").at("test"));
  sidecar.validation = number(json.at("samples").at("validation"));
  sidecar.dense_features = number(json.at("dense").at("features"));
  sidecar.dense_rule = json.at("dense").at("rule").get<std::string>();
  sidecar.dictionary_rule = json.at("dictionary").at("rule").get<std::string>();
  sidecar.threshold = number(json.at("dictionary").at("threshold"));
  sidecar.hash_rows = number(json.at("dictionary").at("hash_rows"));
  std::ranges::transform(json.at("tables"), std::back_inserter(sidecar.tables), read_table);
  std::ranges::transform(json.at("files"), std::back_inserter(sidecar.files), read_file);
  return sidecar;
}

void require(bool condition, const std::string& what) {
  if (!condition) {
    throw std::invalid_argument(what);
  }
}

void check_table(const SidecarTable& table, std::size_t t) {
  const auto& f = table.frequencies;
  const std::string name = "table " + std::to_string(t) + ": ";
  const auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); };
  require(table.rows > 0, name + "has no rows");
  require(sum(f.bucket_rows) <= table.rows, name + "buckets have more rows than the table");
  require(sum(f.bucket_lookups) <= table.lookups, name + "buckets have more lookups than the table");
  require(std::ranges::all_of(f.hottest, [&](const auto& row) { return row.first < table.rows; }),
          name + "a hottest row is not in the table");
}

std::uint64_t samples_of(const Sidecar& sidecar, const std::string& content) {
  std::uint64_t samples = 0;
  for (const SidecarFile& file : sidecar.files) {
    samples += file.content == content ? file.samples : 0;
  }
  return samples;
}

void check_sidecar(const Sidecar& sidecar) {
  require(sidecar.format == criteo_binary_format || sidecar.format == criteo_npy_format,
          "format '" + sidecar.format.substr(0, 40) + "' is neither criteo-binary nor criteo-npy");
  require(sidecar.dense_rule == "log1p" || sidecar.dense_rule == "log3",
          "dense rule '" + sidecar.dense_rule.substr(0, 40) + "' is neither log1p nor log3");
  require(!sidecar.tables.empty() && !sidecar.files.empty(), "has no tables or no files");
  const bool binary = sidecar.format == criteo_binary_format;
  for (const char* content : {"records", "dense", "labels", "sparse"}) {
    const bool wanted = binary == (content == std::string("records"));
    require(!wanted || samples_of(sidecar, content) == sidecar.samples(),
            std::string("files of ") + content + " do not have the samples that it names");
  }
  for (std::size_t t = 0; t < sidecar.tables.size(); ++t) {
    check_table(sidecar.tables[t], t);
  }
}

using RowCount = std::pair<std::uint64_t, std::uint64_t>;

bool is_hotter(const RowCount& a, const RowCount& b) {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

}  // namespace

std::filesystem::path sidecar_path(const std::filesystem::path& prefix) {
  return std::filesystem::is_directory(prefix) ? prefix / "data.json"
                                               : std::filesystem::path(prefix.string() + ".json");
}

void write_sidecar(const std::filesystem::path& path, const Sidecar& sidecar) {
  write_text(path, to_json(sidecar).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n");
}

Sidecar read_sidecar(const std::filesystem::path& path) {
  const Json json = Json::parse(read_text(path), nullptr, false);
  if (!json.is_object() || !json.contains("tutti_data")) {
    fail_sidecar(path, "is not a sidecar of tutti-data; convert the data again");
  }
  if (json["tutti_data"] != version) {
    fail_sidecar(path, "is a sidecar of another version; convert the data again by this tutti-data");
  }
  try {
    const Sidecar sidecar = from_json(json);
    check_sidecar(sidecar);
    return sidecar;
  } catch (const std::exception& error) {
    fail_sidecar(path, std::string("is damaged: ") + error.what());
  }
}

void check_sidecar_files(const std::filesystem::path& path, const Sidecar& sidecar) {
  for (const SidecarFile& file : sidecar.files) {
    const auto named = path.parent_path() / file.name;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(named, error);
    if (error) {
      fail_sidecar(named, "is missing, but its sidecar names it; convert the data again");
    }
    if (bytes != file.bytes) {
      fail_sidecar(named, "has " + std::to_string(bytes) + " bytes where its sidecar says " +
                              std::to_string(file.bytes) + "; convert the data again");
    }
  }
}

void add_row(RowFrequencies& frequencies, std::uint64_t row, std::uint64_t count) {
  if (count == 0) {
    return;
  }
  const auto bucket = static_cast<std::size_t>(std::bit_width(count) - 1);
  ++frequencies.bucket_rows[bucket];
  frequencies.bucket_lookups[bucket] += count;
  frequencies.hottest.emplace_back(row, count);
  if (frequencies.hottest.size() >= 16 * most_hottest) {
    std::ranges::nth_element(frequencies.hottest, frequencies.hottest.begin() + most_hottest, is_hotter);
    frequencies.hottest.resize(most_hottest);
  }
}

void sort_hottest(RowFrequencies& frequencies) {
  std::ranges::sort(frequencies.hottest, is_hotter);
  frequencies.hottest.resize(std::min(frequencies.hottest.size(), most_hottest));
}

}  // namespace tutti::miniapps
