// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "day_files.hpp"
#include "npy.hpp"

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_array(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

/// The days by their files day_N_dense.npy.
std::vector<std::pair<std::int64_t, fs::path>> array_days(const fs::path& folder) {
  return days_in(folder, [](std::string_view rest) { return rest == "_dense.npy"; });
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
}

std::vector<std::uint64_t> npy_shape(const fs::path& path, const std::string& type) {
  return parse_npy(MappedFile(path).content(), path.string(), type, 2).shape;
}

/// Adds the files of one day; the first one says how many features and tables there are.
class Description {
 public:
  explicit Description(fs::path folder) : folder_(std::move(folder)) { sidecar_.format = criteo_npy_format; }

  void add(std::int64_t day) {
    const std::string name = "day_" + std::to_string(day);
    const fs::path dense = folder_ / (name + "_dense.npy");
    const auto shape = npy_shape(dense, "<f4");
    if (shape[0] == 0 || shape[1] == 0) {
      fail_array(dense, "has no samples; remove the files of its day");
    }
    samples_ = shape[0];
    expect_equal(dense, "dense features", shape[1], sidecar_.dense_features);
    const fs::path labels = folder_ / (name + "_labels.npy");
    expect_shape(labels, npy_shape(labels, "<i4"), 1);
    const fs::path sparse = folder_ / (name + "_sparse_multi_hot.npz");
    add_tables(sparse);
    add_file(dense, "dense");
    add_file(labels, "labels");
    add_file(sparse, "sparse");
    day_ends_.push_back((day_ends_.empty() ? 0 : day_ends_.back()) + samples_);
  }

  Sidecar finish() {
    const auto ends = day_ends_.size() == 1 ? cut_in_days(day_ends_[0], days_of_one_file) : day_ends_;
    const auto [train, test] = split_days(ends);
    sidecar_.train = train;
    sidecar_.test = test;
    sidecar_.validation = ends.back() - train - test;
    sidecar_.dense_rule = "given";
    return std::move(sidecar_);
  }

 private:
  void add_file(const fs::path& path, const std::string& content) {
    sidecar_.files.push_back({path.filename().string(), content, samples_, fs::file_size(path), 0});
  }
  void add_tables(const fs::path& path) {
    NpzFile zip(path);
    std::size_t tables = 0;
    while (zip.has(std::to_string(tables) + ".npy")) {
      ++tables;
    }
    if (tables == 0) {
      fail_array(path, "has no members 0, 1, ...; name the array of each table by its number");
    }
    if (zip.members() != tables) {
      fail_array(path, "has " + std::to_string(zip.members()) + " members, which are not 0 to " +
                           std::to_string(zip.members() - 1) + "; bags of any length need the data.json of tutti-data");
    }
    if (!sidecar_.tables.empty() && tables != sidecar_.tables.size()) {
      fail_array(path, "has members of " + std::to_string(tables) + " tables, where those of the first day are " +
                           std::to_string(sidecar_.tables.size()) + "; save it again");
    }
    sidecar_.tables.resize(tables);
    for (std::size_t t = 0; t < tables; ++t) {
      add_table(path.string() + ", member " + std::to_string(t), zip.shape(std::to_string(t) + ".npy", "<i4", 2),
                sidecar_.tables[t]);
    }
  }
  void add_table(const std::string& name, const std::vector<std::uint64_t>& shape, SidecarTable& table) {
    expect_shape(name, shape, shape[1]);
    const bool is_first = table.lookups == 0;
    std::uint64_t hotness = is_first ? 0 : table.hotness;
    expect_equal(name, "indices a sample", shape[1], hotness);
    table.hotness = hotness;
    table.lookups += shape[0] * shape[1];
  }
  /// All days have as much of something; `known` is 0 before the first one.
  static void expect_equal(const fs::path& name, const std::string& what, std::uint64_t count, std::uint64_t& known) {
    if (known != 0 && count != known) {
      fail_array(name, "has " + std::to_string(count) + " " + what + ", where the first day has " +
                           std::to_string(known) + "; save it again");
    }
    known = count;
  }
  void expect_shape(const fs::path& name, const std::vector<std::uint64_t>& shape, std::uint64_t columns) const {
    if (shape[0] != samples_ || shape[1] != columns || columns == 0) {
      fail_array(name, "has the shape " + shape_text(shape) + " where the dense features of its day are of " +
                           std::to_string(samples_) + " samples; save the arrays of this day again");
    }
  }

  fs::path folder_;
  Sidecar sidecar_{};
  std::vector<std::uint64_t> day_ends_{};
  std::uint64_t samples_ = 0;  ///< of the day that is added
};

}  // namespace

bool has_array_days(const fs::path& folder) {
  if (array_days(folder).empty()) {
    return false;
  }
  if (!text_days(folder).empty()) {
    fail_array(folder, "has day files of text and of arrays; give each a folder of its own");
  }
  return true;
}

Sidecar describe_array_days(const fs::path& folder) {
  Description description(folder);
  for (const auto& [day, file] : array_days(folder)) {
    description.add(day);
  }
  return description.finish();
}

}  // namespace tutti::miniapps
