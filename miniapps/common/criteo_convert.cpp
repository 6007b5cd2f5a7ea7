// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_convert.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <tutti/error.hpp>
#include <unordered_map>

#include "criteo_line.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::size_t days = 7;

std::ifstream open_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorCode::io, path.string() + ": cannot be opened; name the Criteo text file");
  }
  return file;
}

/// Without the blank lines at the end.
std::uint64_t count_lines(const std::filesystem::path& path) {
  std::ifstream file = open_text(path);
  std::vector<char> block(1U << 20U);
  std::uint64_t begun = 0;
  std::uint64_t lines = 0;
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    const std::string_view text(block.data(), static_cast<std::size_t>(file.gcount()));
    const std::size_t last = text.find_last_not_of("\r\n");
    if (last != std::string_view::npos) {
      lines = begun + static_cast<std::uint64_t>(std::ranges::count(text.substr(0, last), '\n')) + 1;
    }
    begun += static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  }
  return lines;
}

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
    auto& column_numbers = numbers_[column];
    const auto [found, is_new] = column_numbers.try_emplace(value, static_cast<std::int32_t>(column_numbers.size()));
    if (is_new) {
      values_[column].push_back(value);
    }
    return found->second;
  }
  [[nodiscard]] std::uint64_t size(std::size_t column) const { return numbers_[column].size(); }

  void write(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (const auto& values : values_) {
      file.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(std::uint32_t)));
    }
    if (!file.flush()) {
      throw Error(ErrorCode::io, path.string() + ": cannot be written; is the disk full?");
    }
  }

 private:
  std::array<std::unordered_map<std::uint32_t, std::int32_t>, criteo_tables> numbers_;
  std::array<std::vector<std::uint32_t>, criteo_tables> values_;
};

CriteoRecord to_record(const CriteoLine& line, std::int64_t max_ind_range, Dictionaries& dictionaries) {
  CriteoRecord record{line.label, line.dense, {}};
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
  summary.lines = count_lines(options.file);
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
  std::ifstream file = open_text(options.file);
  CriteoRecordWriter writer(records);
  Dictionaries dictionaries(options.known);
  NumpyRandom random(options.seed);
  CriteoLine line;
  CriteoLineFault fault;
  std::string text;
  std::uint64_t kept = 0;
  std::size_t day = 0;
  for (std::uint64_t number = 0; number < summary.lines && std::getline(file, text); ++number) {
    while (day < days && day_first[day] == number) {
      summary.day_offsets[day++] = kept;
    }
    const double chance = options.sub_sample_rate > 0 ? random.random_sample() : 1.0;
    if (!parse_criteo_line(text, line, fault)) {
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
  if (file.bad() || kept == 0) {
    throw Error(ErrorCode::io, options.file.string() + (kept == 0 ? ": has no usable line" : ": cannot be read"));
  }
  for (std::size_t t = 0; t < criteo_tables; ++t) {
    summary.categories[t] = dictionaries.size(t);
  }
  dictionaries.write(categories);
  writer.close();
  return summary;
}

}  // namespace tutti::miniapps
