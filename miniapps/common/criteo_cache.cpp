// SPDX-License-Identifier: BSD-3-Clause
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <tutti/error.hpp>

#include "cache_folder.hpp"
#include "criteo_convert.hpp"
#include "data/day_files.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

/// All that the records depend on.
nlohmann::json identity(const CriteoTextOptions& options) {
  nlohmann::json file = file_identity(options.file);
  if (file.is_null()) {
    throw Error(ErrorCode::io, options.file.string() + ": cannot be opened; name the Criteo text file");
  }
  if (fs::is_directory(options.file)) {
    file = {};  // other files in the folder do not matter
    for (const fs::path& day : text_files(options.file)) {
      file["days"].push_back(file_identity(day));
    }
  }
  const bool sampled = options.sub_sample_rate > 0;
  std::uint32_t known = 0;
  std::uint64_t numbers = 0;
  for (const auto& values : options.known) {
    numbers += values.size();
    known = static_cast<std::uint32_t>(
        ::crc32_z(known, reinterpret_cast<const Bytef*>(values.data()), values.size() * sizeof(std::uint32_t)));
  }
  file.update({{"format", 2},
               {"known", {numbers, known}},
               {"all_test", options.all_test},
               {"max_ind_range", options.max_ind_range},
               {"sub_sample_rate", options.sub_sample_rate},
               {"seed", sampled ? options.seed : 0U}});
  return file;
}

std::optional<CriteoTextSummary> load_summary(const fs::path& path, const fs::path& records, const fs::path& categories,
                                              const nlohmann::json& wanted) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || json.value("identity", nlohmann::json()) != wanted) {
    return std::nullopt;
  }
  CriteoTextSummary summary;
  summary.lines = json.at("lines");
  summary.bad_lines = json.at("bad_lines");
  summary.first_bad_line = json.at("first_bad_line");
  summary.day_offsets = json.at("day_offsets").get<std::vector<std::uint64_t>>();
  summary.categories = json.at("categories");
  std::error_code error;
  const auto bytes = fs::file_size(records, error);
  const auto numbers = error ? 0 : fs::file_size(categories, error);
  const std::uint64_t all = std::accumulate(summary.categories.begin(), summary.categories.end(), std::uint64_t{0});
  const bool whole =
      !error && bytes == summary.day_offsets.back() * sizeof(CriteoRecord) && numbers == all * sizeof(std::uint32_t);
  return whole ? std::optional(summary) : std::nullopt;
}

void save_summary(const fs::path& path, const CriteoTextSummary& summary, const nlohmann::json& wanted) {
  const nlohmann::json json{{"identity", wanted},
                            {"lines", summary.lines},
                            {"bad_lines", summary.bad_lines},
                            {"first_bad_line", summary.first_bad_line},
                            {"day_offsets", summary.day_offsets},
                            {"categories", summary.categories}};
  std::ofstream file(path);
  file << json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
  if (!file.flush()) {
    throw Error(ErrorCode::io, path.string() + ": cannot be written; is the disk full?");
  }
}

}  // namespace

CriteoCacheEntry cached_criteo_text(const CriteoTextOptions& options) {
  const nlohmann::json wanted = identity(options);
  const std::string stem = cache_stem(options.cache_dir, options.file, wanted);
  std::error_code error;
  const FileLock lock(stem + ".lock");
  CriteoCacheEntry entry{stem + ".bin", stem + ".categories", {}};
  if (const auto found = load_summary(stem + ".json", entry.records, entry.categories, wanted)) {
    entry.summary = *found;
    check_bad_lines(options, entry.summary);
    return entry;
  }
  fs::remove(stem + ".json", error);
  entry.summary = convert_criteo_text(options, entry.records, entry.categories);
  save_summary(stem + ".json", entry.summary, wanted);
  return entry;
}

}  // namespace tutti::miniapps
