// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_convert.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <tutti/error.hpp>

#include "criteo_line.hpp"
#include "data/day_files.hpp"
#include "data/draft_file.hpp"
#include "data/id_table.hpp"
#include "data/packed_text.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

namespace {

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

/// The first line of each day, and the end of the last one: one file is cut in days, of several each is one; or all
/// lines are of the last day.
std::vector<std::uint64_t> day_lines(const std::vector<std::uint64_t>& file_ends, bool all_last) {
  if (all_last) {
    return {0, 0, file_ends.back()};
  }
  auto first = file_ends.size() == 1 ? cut_in_days(file_ends[0], days_of_one_file) : file_ends;
  first.insert(first.begin(), 0);
  return first;
}

std::uint64_t count_lines(const std::filesystem::path& path) {
  std::uint64_t lines = 0;
  for_each_text(path, [&](std::string_view text) {
    lines += text.empty() ? 0 : static_cast<std::uint64_t>(std::ranges::count(text, '\n')) + 1;
  });
  return lines;
}

/// Lines before the end of each file.
std::vector<std::uint64_t> count_lines(const CriteoTextOptions& options,
                                       const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint64_t> ends;
  for (const std::filesystem::path& file : files) {
    const std::uint64_t lines = count_lines(file);
    if (lines == 0 && files.size() > 1) {
      throw Error(ErrorCode::io, file.string() + ": is empty; remove it, or copy it again");
    }
    ends.push_back((ends.empty() ? 0 : ends.back()) + lines);
  }
  if (files.size() == 1 && ends[0] < days_of_one_file && !options.all_test) {
    throw Error(ErrorCode::io, files[0].string() + ": has " + std::to_string(ends[0]) + " lines, too few for 7 days");
  }
  return ends;
}

/// The second pass over the texts, line by line.
class Conversion {
 public:
  Conversion(const CriteoTextOptions& options, const std::vector<std::uint64_t>& file_ends,
             const std::filesystem::path& records)
      : options_(options),
        day_first_(day_lines(file_ends, options.all_test)),
        writer_(records),
        dictionaries_(options.known),
        random_(options.seed) {
    summary_.lines = file_ends.back();
    summary_.day_offsets.resize(day_first_.size());
  }

  /// Lines are named within their file, and behind it where there are several.
  void begin_file(const std::filesystem::path& file) {
    file_first_ = number_;
    file_ = file == options_.file ? "" : file.filename().string() + ", ";
  }

  void add(std::string_view text) {
    begin_days(number_++);
    const double chance = options_.sub_sample_rate > 0 ? random_.random_sample() : 1.0;
    if (!parse_criteo_line(text, line_, fault_)) {
      return skip();
    }
    if (line_.label == 0 && chance < options_.sub_sample_rate) {
      return;
    }
    writer_.append(to_record(line_, options_.max_ind_range, dictionaries_));
    ++kept_;
  }

  CriteoTextSummary finish(const std::filesystem::path& categories) {
    begin_days(summary_.lines);
    if (kept_ == 0) {
      throw Error(ErrorCode::io, options_.file.string() + ": has no usable line");
    }
    for (std::size_t t = 0; t < criteo_tables; ++t) {
      summary_.categories[t] = dictionaries_.size(t);
    }
    dictionaries_.write(categories);
    writer_.close();
    return summary_;
  }

 private:
  /// Of the days that begin at a line, and of their end.
  void begin_days(std::uint64_t number) {
    while (day_ < day_first_.size() && day_first_[day_] == number) {
      summary_.day_offsets[day_++] = kept_;
    }
  }
  void skip() {
    if (summary_.bad_lines++ == 0) {
      summary_.first_bad_line = file_ + "line " + std::to_string(number_ - file_first_) + ", field " +
                                std::to_string(fault_.field) + ": " + fault_.what;
    }
    check_bad_lines(options_, summary_);
  }

  const CriteoTextOptions& options_;
  std::vector<std::uint64_t> day_first_;
  CriteoRecordWriter writer_;
  Dictionaries dictionaries_;
  NumpyRandom random_;
  CriteoTextSummary summary_{};
  CriteoLine line_{};
  CriteoLineFault fault_{};
  std::string file_{};
  std::uint64_t file_first_ = 0;  ///< lines before the file
  std::uint64_t number_ = 0;      ///< of lines so far
  std::uint64_t kept_ = 0;
  std::size_t day_ = 0;
};

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
  const auto files = text_files(options.file);
  const auto ends = count_lines(options, files);
  std::error_code unknown;
  const auto space = std::filesystem::space(records.parent_path(), unknown);
  if (!unknown) {
    require_room(records.parent_path(), ends.back(), space.available);
  }
  Conversion conversion(options, ends, records);
  for (const std::filesystem::path& file : files) {
    conversion.begin_file(file);
    for_each_text(file, [&](std::string_view text) {
      while (!text.empty()) {
        conversion.add(take_line(text));
      }
    });
  }
  return conversion.finish(categories);
}

}  // namespace tutti::miniapps
