// SPDX-License-Identifier: BSD-3-Clause
#include "sidecar.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
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

Json buckets_json(const SidecarCounts& counts) {
  Json list = Json::array();
  for (std::size_t b = 0; b < counts.bucket_rows.size(); ++b) {
    if (counts.bucket_rows[b] > 0) {
      list.push_back({b, counts.bucket_rows[b], counts.bucket_lookups[b]});
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
          {"buckets", buckets_json(table.counts)},
          {"hottest", table.counts.hottest},
          {"blocks", table.counts.blocks}};
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
    table.counts.bucket_rows.at(b) = number(bucket.at(1));
    table.counts.bucket_lookups.at(b) = number(bucket.at(2));
  }
  for (const Json& row : json.at("hottest")) {
    table.counts.hottest.emplace_back(number(row.at(0)), number(row.at(1)));
  }
  std::ranges::transform(json.value("blocks", Json::array()), std::back_inserter(table.counts.blocks), number);
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

std::size_t bucket_of(std::uint64_t count) { return static_cast<std::size_t>(std::bit_width(count) - 1); }

/// Takes the hottest rows out of their buckets. Throws where one is not in the table, or not in its bucket.
SidecarCounts without_hottest(const SidecarTable& table) {
  SidecarCounts others = table.counts;
  std::set<std::uint64_t> rows;
  for (const auto& [row, count] : table.counts.hottest) {
    require(row < table.rows && count > 0 && rows.insert(row).second,
            "a hottest row is not in the table, or named twice");
    std::uint64_t& left = others.bucket_rows[bucket_of(count)];
    std::uint64_t& lookups = others.bucket_lookups[bucket_of(count)];
    require(left > 0 && lookups >= count, "a hottest row is not in the bucket of its count");
    --left;
    lookups -= count;
  }
  return others;
}

std::uint64_t sum_of(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

void check_table(const SidecarTable& table) {
  const SidecarCounts& counts = table.counts;
  require(table.rows > 0, "has no rows");
  require(sum_of(counts.bucket_rows) <= table.rows, "buckets have more rows than the table");
  require(sum_of(counts.bucket_lookups) <= table.lookups, "buckets have more lookups than the table");
  require(counts.blocks.empty() || (counts.blocks.size() == lookup_blocks(table.rows) &&
                                    sum_of(counts.blocks) == sum_of(counts.bucket_lookups)),
          "blocks are not those of the table, or have other lookups than the buckets");
  (void)without_hottest(table);
}

std::uint64_t samples_of(const Sidecar& sidecar, const std::string& content) {
  std::uint64_t samples = 0;
  for (const SidecarFile& file : sidecar.files) {
    samples += file.content == content ? file.samples : 0;
  }
  return samples;
}

/// What the files of a format have that each sample is in; none for an unknown format.
std::vector<std::string> contents_of(const std::string& format) {
  return format == criteo_binary_format    ? std::vector<std::string>{"records"}
         : format == criteo_npy_format     ? std::vector<std::string>{"dense", "labels", "sparse"}
         : format == criteo_parquet_format ? std::vector<std::string>{"samples"}
                                           : std::vector<std::string>();
}

void check_sidecar(const Sidecar& sidecar) {
  const auto contents = contents_of(sidecar.format);
  require(!contents.empty(), "format '" + sidecar.format.substr(0, 40) + "' is neither " + criteo_binary_format + ", " +
                                 criteo_npy_format + " nor " + criteo_parquet_format);
  require(sidecar.dense_rule == "log1p" || sidecar.dense_rule == "log3" || sidecar.dense_rule == "given",
          "dense rule '" + sidecar.dense_rule.substr(0, 40) + "' is neither log1p, log3 nor given");
  require(!sidecar.tables.empty() && !sidecar.files.empty(), "has no tables or no files");
  for (const std::string& content : contents) {
    require(samples_of(sidecar, content) == sidecar.samples(),
            "files of " + content + " do not have the samples that it names");
  }
  for (std::size_t t = 0; t < sidecar.tables.size(); ++t) {
    try {
      check_table(sidecar.tables[t]);
    } catch (const std::invalid_argument& fault) {
      throw std::invalid_argument("table " + std::to_string(t) + ": " + fault.what());
    }
  }
}

using RowCount = std::pair<std::uint64_t, std::uint64_t>;

bool is_hotter(const RowCount& a, const RowCount& b) {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

LookupCounts counts_of(const SidecarTable& table) {
  LookupCounts counts;
  if (sum_of(table.counts.blocks) == 0) {
    return counts;
  }
  counts.shares.assign(table.counts.blocks.begin(), table.counts.blocks.end());
  tutti::RowFrequencies& f = counts.frequencies;
  for (const auto& [row, count] : table.counts.hottest) {
    f.hot_rows.push_back(static_cast<std::int64_t>(row));
    f.hot_lookups.push_back(static_cast<double>(count));
  }
  const SidecarCounts others = without_hottest(table);
  f.bucket_rows.assign(others.bucket_rows.begin(), others.bucket_rows.end());
  f.bucket_lookups.assign(others.bucket_lookups.begin(), others.bucket_lookups.end());
  return counts;
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

void add_row(SidecarTable& table, std::uint64_t row, std::uint64_t count) {
  if (count == 0) {
    return;
  }
  SidecarCounts& counts = table.counts;
  ++counts.bucket_rows[bucket_of(count)];
  counts.bucket_lookups[bucket_of(count)] += count;
  counts.blocks.resize(lookup_blocks(table.rows));
  counts.blocks[lookup_block(row, table.rows)] += count;
  counts.hottest.emplace_back(row, count);
  if (counts.hottest.size() >= 16 * most_hottest) {
    std::ranges::nth_element(counts.hottest, counts.hottest.begin() + most_hottest, is_hotter);
    counts.hottest.resize(most_hottest);
  }
}

void sort_hottest(SidecarCounts& counts) {
  std::ranges::sort(counts.hottest, is_hotter);
  counts.hottest.resize(std::min(counts.hottest.size(), most_hottest));
}

std::vector<LookupCounts> lookup_counts(const Sidecar& sidecar) {
  const auto is_known = [](const SidecarTable& table) { return table.lookups == 0 || !table.counts.blocks.empty(); };
  std::vector<LookupCounts> counts;
  if (std::ranges::all_of(sidecar.tables, is_known)) {
    std::ranges::transform(sidecar.tables, std::back_inserter(counts), counts_of);
  }
  return counts;
}

}  // namespace tutti::miniapps
