// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_convert.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <tutti/error.hpp>

#include "criteo_line.hpp"
#include "data/draft_file.hpp"
#include "data/id_table.hpp"
#include "data/mapped_file.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::size_t days = 7;

/// Category numbers in order of first appearance, per column, after the known ones.
class Dictionaries {
 public:
  explicit Dictionaries(const CategoryValues& known) {
    for (std::size_t t = 0; t < known.size(); ++t) {
      for (const std::uint32_t value : known[t]) {
        (void)number(t, value);
      }
    }
  }
  std::int32_t number(std::size_t column, std::uint32_t value) {
    IdEntry& entry = numbers_[column].find_or_add(value);
    if (entry.count == 0) {
      entry.count = 1;
      entry.value = static_cast<std::uint32_t>(values_[column].size());
      values_[column].push_back(value);
    }
    return static_cast<std::int32_t>(entry.value);
  }
  [[nodiscard]] std::uint64_t size(std::size_t column) const { return values_[column].size(); }

  void write(const std::filesystem::path& path) const {
    DraftFile file(path);
    for (const auto& values : values_) {
      file.append(std::as_bytes(std::span(values)));
    }
    file.commit(false);
  }

 private:
  std::array<IdTable, criteo_tables> numbers_;
  std::array<std::vector<std::uint32_t>, criteo_tables> values_;
};

CriteoRecord to_record(const CriteoLine& line, std::int64_t max_ind_range, Dictionaries& dictionaries) {
  CriteoRecord record = criteo_record(line);
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    const std::uint32_t hash =
        max_ind_range > 0 ? static_cast<std::uint32_t>(line.hashes[t] % static_cast<std::uint64_t>(max_ind_range))
                          : line.hashes[t];
    record.categories[t] = dictionaries.number(t, hash);
  }
  return record;
}

/// The first line of each day: `lines` in 7 parts, the first lines % 7 of them one longer; or all in the last day.
std::array<std::uint64_t, days + 1> day_lines(std::uint64_t lines, bool all_last) {
  std::array<std::uint64_t, days + 1> first{};
  if (all_last) {
    first[days] = lines;
    return first;
  }
  for (std::size_t d = 0; d < days; ++d) {
    first[d + 1] = first[d] + lines / days + (d < lines % days ? 1 : 0);
  }
  return first;
}

}  // namespace

void check_bad_lines(const CriteoTextOptions& options, const CriteoTextSummary& summary) {
  if (summary.bad_lines > options.max_bad_lines) {
    throw Error(ErrorCode::io, options.file.string() + ": " + std::to_string(summary.bad_lines) +
                                   " malformed line(s) where " + std::to_string(options.max_bad_lines) +
                                   " are allowed, the first is " + summary.first_bad_line +
                                   "; correct the file or raise the limit");
  }
}

void require_room(const std::filesystem::path& folder, std::uint64_t lines, std::uint64_t available) {
  const std::uint64_t bytes = lines * sizeof(CriteoRecord);
  if (bytes > available) {
    throw Error(ErrorCode::io, folder.string() + ": has room for " + std::to_string(available) +
                                   " bytes, but the records of " + std::to_string(lines) + " lines take " +
                                   std::to_string(bytes) + "; name another folder by TUTTI_CACHE_DIR");
  }
}

CategoryValues read_categories(const std::filesystem::path& path, const CriteoTextSummary& summary) {
  std::ifstream file(path, std::ios::binary);
  CategoryValues values(criteo_tables);
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    values[t].resize(summary.categories[t]);
    file.read(reinterpret_cast<char*>(values[t].data()),
              static_cast<std::streamsize>(values[t].size() * sizeof(std::uint32_t)));
  }
  if (!file) {
    throw Error(ErrorCode::io, path.string() + ": cannot be read; remove it, so that the text is converted again");
  }
  return values;
}

CriteoTextSummary convert_criteo_text(const CriteoTextOptions& options, const std::filesystem::path& records,
                                      const std::filesystem::path& categories) {
  CriteoTextSummary summary;
  const MappedFile file(options.file);
  std::string_view content = without_blank_end(file.content());
  summary.lines = content.empty() ? 0 : static_cast<std::uint64_t>(std::ranges::count(content, '\n')) + 1;
  if (summary.lines < days && !options.all_test) {
    throw Error(ErrorCode::io,
                options.file.string() + ": has " + std::to_string(summary.lines) + " lines, too few for 7 days");
  }
  std::error_code unknown;
  const auto space = std::filesystem::space(records.parent_path(), unknown);
  if (!unknown) {
    require_room(records.parent_path(), summary.lines, space.available);
  }
  const auto day_first = day_lines(summary.lines, options.all_test);
  CriteoRecordWriter writer(records);
  Dictionaries dictionaries(options.known);
  NumpyRandom random(options.seed);
  CriteoLine line;
  CriteoLineFault fault;
  std::uint64_t kept = 0;
  std::size_t day = 0;
  for (std::uint64_t number = 0; number < summary.lines; ++number) {
    while (day < days && day_first[day] == number) {
      summary.day_offsets[day++] = kept;
    }
    const double chance = options.sub_sample_rate > 0 ? random.random_sample() : 1.0;
    if (!parse_criteo_line(take_line(content), line, fault)) {
      if (summary.bad_lines++ == 0) {
        summary.first_bad_line =
            "line " + std::to_string(number + 1) + ", field " + std::to_string(fault.field) + ": " + fault.what;
      }
      check_bad_lines(options, summary);
      continue;
    }
    if (line.label == 0 && chance < options.sub_sample_rate) {
      continue;
    }
    writer.append(to_record(line, options.max_ind_range, dictionaries));
    ++kept;
  }
  summary.day_offsets[days] = kept;
  if (kept == 0) {
    throw Error(ErrorCode::io, options.file.string() + ": has no usable line");
  }
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    summary.categories[t] = dictionaries.size(t);
  }
  dictionaries.write(categories);
  writer.close();
  return summary;
}

}  // namespace tutti::miniapps
