// SPDX-License-Identifier: BSD-3-Clause
#include "parquet_set.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <tutti/error.hpp>

#include "day_files.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_set(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a number off the front of a text, which begins with a digit: its digits without zeros in front.
std::string_view take_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

/// Names in their order, where numbers in them count as numbers.
bool comes_before(const std::string& a, const std::string& b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left[0]) && is_digit(right[0])) {
      const auto x = take_number(left);
      const auto y = take_number(right);
      if (x != y) {
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      }
    } else if (left[0] != right[0]) {
      return left[0] < right[0];
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.empty() && right.empty() ? a < b : left.empty();
}

bool is_named_parquet(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".parquet") && name[0] != '.' && name[0] != '_';
}

std::vector<fs::path> files_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_named_parquet(entry.path()) && entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files,
                    [](const fs::path& a, const fs::path& b) { return comes_before(a.filename(), b.filename()); });
  if (files.empty()) {
    fail_set(folder, "has no files *.parquet; name the files themselves");
  }
  return files;
}

/// The columns that an entry of a list names.
std::vector<std::string> expand(const std::string& entry, const std::vector<std::string>& names) {
  if (!entry.ends_with('*')) {
    return {entry};
  }
  const std::string_view prefix(entry.data(), entry.size() - 1);
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), [&](const std::string& name) {
    return name.size() > prefix.size() && name.starts_with(prefix) &&
           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), is_digit);
  });
  std::ranges::sort(found, comes_before);
  return found;
}

std::vector<std::string> expand_list(const std::string& list, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::ranges::move(expand(list.substr(begin, end - begin), names), std::back_inserter(found));
    begin = end + 1;
  }
  return found;
}

/// What a file has, cut to a length that a message may have.
std::string shown(const std::vector<std::string>& names) {
  constexpr std::size_t most = 60;
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

std::vector<std::string> columns_of(const fs::path& path, const ParquetFile& file, const std::string& given,
                                    const std::vector<std::string>& usual, const std::string& option) {
  for (const std::string& list : given.empty() ? usual : std::vector<std::string>{given}) {
    const auto found = expand_list(list, file.names());
    const auto is_there = [&](const std::string& name) { return std::ranges::count(file.names(), name) > 0; };
    if (!found.empty() && std::ranges::all_of(found, is_there)) {
      return found;
    }
  }
  const std::string wanted = given.empty() ? usual.front() : given.substr(0, 60);
  fail_set(path,
           "has no column '" + wanted + "' but " + shown(file.names()) + "; name those of the samples by " + option);
}

/// Raises what is known of a column to what another file has of it.
void merge(ParquetColumn& known, const ParquetColumn& column, const fs::path& path) {
  const auto is_text = [](const ParquetColumn& c) { return c.kind == ParquetKind::text; };
  if (known.is_list != column.is_list || is_text(known) != is_text(column)) {
    fail_set(path, "column '" + column.name.substr(0, 40) +
                       "' holds another type than in the files before it; write it again with the same types");
  }
  known.kind = std::max(known.kind, column.kind);
  known.values += column.values;
}

/// Adds file after file; the first one says which columns there are.
class Description {
 public:
  explicit Description(const ParquetNames& names) : names_(names) {}

  void add(const fs::path& path) {
    const auto file = open_parquet(path);
    const std::uint64_t before = samples_;
    for (std::size_t g = 0; g < file->groups().size(); ++g) {
      if (const std::uint64_t rows = file->groups()[g]; rows > 0) {
        set_.groups.push_back({set_.files.size(), g, samples_, rows});
        samples_ += rows;
      }
    }
    if (samples_ > before) {
      set_.columns.empty() ? begin_columns(path, *file) : merge_columns(path, *file);
      set_.files.push_back({path, file->groups()});
    }
  }

  ParquetSet finish(const fs::path& path) {
    if (samples_ == 0) {
      fail_set(path, "has no samples; name another file or folder");
    }
    set_.day_ends = ends_of_days();
    return std::move(set_);
  }

 private:
  void begin_columns(const fs::path& path, const ParquetFile& file) {
    const auto add = [&](const std::vector<std::string>& some) {
      std::ranges::transform(some, std::back_inserter(set_.columns),
                             [&](const std::string& name) { return file.column(name); });
    };
    add(columns_of(path, file, names_.label, {"label"}, "--label"));
    if (set_.columns.size() != 1) {
      fail_set(path, "has several columns '" + names_.label.substr(0, 60) + "'; name one by --label");
    }
    const auto dense = columns_of(path, file, names_.dense, {"int_*", "I*"}, "--dense-columns");
    add(dense);
    set_.dense_features = dense.size();
    add(columns_of(path, file, names_.sparse, {"cat_*", "C*"}, "--sparse-columns"));
    check_kinds(path);
  }
  void check_kinds(const fs::path& path) const {
    for (std::size_t i = 0; i < set_.columns.size(); ++i) {
      const ParquetColumn& column = set_.columns[i];
      const bool is_sparse = i > set_.dense_features;
      if (is_sparse ? column.kind == ParquetKind::real : column.is_list || column.kind == ParquetKind::text) {
        fail_set(path, "column '" + column.name.substr(0, 40) + "' holds no " +
                           (is_sparse ? "integers or texts, which a table has" : "numbers") +
                           "; name others by --label, --dense-columns and --sparse-columns");
      }
    }
  }
  void merge_columns(const fs::path& path, const ParquetFile& file) {
    for (ParquetColumn& known : set_.columns) {
      merge(known, file.column(known.name), path);
    }
    check_kinds(path);
  }

  /// The samples before the end of each day that the names of the files say; none where they name no days.
  [[nodiscard]] std::vector<std::uint64_t> named_days() const {
    std::vector<std::uint64_t> ends;
    std::string last;
    for (const ParquetGroup& group : set_.groups) {
      const std::string name = set_.files[group.file].path.filename();
      if (!name.starts_with("day_") || !is_digit(name[4])) {
        return {};
      }
      std::string_view rest = std::string_view(name).substr(4);
      const std::string day(take_number(rest));
      if (ends.empty() || day != last) {
        ends.push_back(0);
      }
      ends.back() = group.first + group.rows;
      last = day;
    }
    return ends;
  }
  [[nodiscard]] std::vector<std::uint64_t> ends_of_days() const {
    const auto named = named_days();
    return named.size() > 1 ? named : cut_in_days(samples_, std::min(samples_, days_of_one_file));
  }

  const ParquetNames& names_;
  ParquetSet set_{};
  std::uint64_t samples_ = 0;
};

/// Of a folder that has one.
std::optional<Sidecar> sidecar_of(const std::vector<std::string>& paths) {
  if (paths.size() != 1 || !fs::is_directory(paths[0]) || !fs::exists(sidecar_path(paths[0]))) {
    return std::nullopt;
  }
  const fs::path path = sidecar_path(paths[0]);
  Sidecar sidecar = read_sidecar(path);
  if (sidecar.format != criteo_parquet_format) {
    fail_set(path, "is no sidecar of files of Parquet; remove it, or name the data that it is of");
  }
  check_sidecar_files(path, sidecar);
  return sidecar;
}

void check_against(const ParquetSet& set, const fs::path& path) {
  const Sidecar& sidecar = *set.sidecar;
  if (set.samples() != sidecar.samples() || set.dense_features != sidecar.dense_features ||
      set.tables().size() != sidecar.tables.size()) {
    fail_set(path, "has files of other samples, features or tables than its sidecar says; convert the data again");
  }
}

}  // namespace

std::vector<std::string> ParquetSet::names() const {
  std::vector<std::string> all;
  std::ranges::transform(columns, std::back_inserter(all), &ParquetColumn::name);
  return all;
}

bool ParquetSet::has_counts() const {
  return std::ranges::all_of(dense(), [](const ParquetColumn& c) { return c.kind == ParquetKind::integer; });
}

bool ParquetSet::has_texts() const {
  return std::ranges::any_of(tables(), [](const ParquetColumn& c) { return c.kind == ParquetKind::text; });
}

bool ParquetSet::has_lists() const { return std::ranges::any_of(tables(), &ParquetColumn::is_list); }

bool has_parquet_files(const fs::path& folder) {
  return std::ranges::any_of(fs::directory_iterator(folder),
                             [](const fs::directory_entry& entry) { return is_named_parquet(entry.path()); });
}

ParquetSet describe_parquet(const std::vector<std::string>& paths, const ParquetNames& names) {
  Description description(names);
  const auto sidecar = sidecar_of(paths);
  for (const std::string& path : paths) {
    if (sidecar) {
      for (const SidecarFile& file : sidecar->files) {
        if (file.content == "samples") {
          description.add(fs::path(path) / file.name);
        }
      }
    } else {
      for (const fs::path& file : fs::is_directory(path) ? files_of_folder(path) : std::vector<fs::path>{path}) {
        description.add(file);
      }
    }
  }
  ParquetSet set = description.finish(paths.front());
  set.sidecar = sidecar;
  if (sidecar) {
    check_against(set, paths.front());
  }
  return set;
}

std::size_t first_above(std::span<const std::int64_t> indices, std::uint64_t rows) {
  const auto is_above = [rows](std::int64_t index) { return static_cast<std::uint64_t>(index) >= rows; };
  std::uint64_t most = 0;
  for (const std::int64_t index : indices) {
    most = std::max(most, static_cast<std::uint64_t>(index));
  }
  return most < rows ? indices.size()
                     : static_cast<std::size_t>(std::ranges::find_if(indices, is_above) - indices.begin());
}

std::size_t row_of(const ParquetValues& values, std::size_t element) {
  std::size_t row = 0;
  while (row < values.lengths.size() && element >= values.lengths[row]) {
    element -= values.lengths[row++];
  }
  return values.lengths.empty() ? element : row;
}

void fail_parquet_value(const fs::path& path, std::uint64_t sample, const ParquetColumn& column,
                        const std::string& what) {
  fail_set(path, "sample " + std::to_string(sample) + " has " + what + " in column '" + column.name.substr(0, 40) +
                     "'; correct it, or name other columns");
}

}  // namespace tutti::miniapps
