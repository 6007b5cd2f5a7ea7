// SPDX-License-Identifier: BSD-3-Clause
#include "array_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/command_line/progress.hpp"
#include "common/data/day_files.hpp"
#include "common/data/npy.hpp"
#include "piece_parser.hpp"

namespace tutti::data {

namespace {

namespace fs = std::filesystem;
using miniapps::MappedFile;
using miniapps::NpyArray;
using miniapps::NpzFile;

[[noreturn]] void fail_arrays(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

[[noreturn]] void fail_sample(const fs::path& path, std::uint64_t sample, const std::string& what) {
  fail_arrays(path, fmt::format("sample {} has {}; correct it or remove the day", sample, what));
}

/// Samples [first, end) of a day.
struct DayPiece {
  std::size_t day;
  std::uint64_t number;
  std::uint64_t first;
  std::uint64_t end;
  bool is_last;
};

/// The arrays of one day, mapped; deflated ones are decompressed at the first use.
class DayReader {
 public:
  DayReader(const ArrayInput& input, std::size_t day)
      : dense_(path_of(input, 3 * day)),
        labels_(path_of(input, 3 * day + 1)),
        sparse_path_(path_of(input, 3 * day + 2)),
        sparse_(sparse_path_),
        tables_(input.sidecar.tables.size()) {}

  /// Whether samples cannot be read without those before them.
  [[nodiscard]] bool is_deflated() const {
    for (std::size_t t = 0; t < tables_; ++t) {
      if (sparse_.is_deflated(member(t))) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] Samples read(std::uint64_t first, std::uint64_t end) {
    const NpyArray dense = miniapps::parse_npy(dense_.content(), dense_.path().string(), "<f4", 2);
    Samples samples(dense.shape[1], tables_);
    read_labels(first, end, samples.labels);
    for (std::uint64_t j = 0; j < dense.shape[1]; ++j) {
      for (std::uint64_t s = first; s < end; ++s) {
        samples.dense[j].push_back(dense_bits(dense.at<float>(s * dense.shape[1] + j), s));
      }
    }
    for (std::size_t t = 0; t < tables_; ++t) {
      read_bags(t, first, end, samples.ids[t]);
    }
    return samples;
  }

 private:
  static fs::path path_of(const ArrayInput& input, std::size_t file) {
    return input.folder / input.sidecar.files[file].name;
  }
  static std::string member(std::size_t table) { return fmt::format("{}.npy", table); }

  void read_labels(std::uint64_t first, std::uint64_t end, std::vector<std::int32_t>& labels) const {
    const NpyArray array = miniapps::parse_npy(labels_.content(), labels_.path().string(), "<i4", 2);
    for (std::uint64_t s = first; s < end; ++s) {
      labels.push_back(array.at<std::int32_t>(s));
      if (labels.back() != 0 && labels.back() != 1) {
        fail_sample(labels_.path(), s, fmt::format("the label {}, which is neither 0 nor 1", labels.back()));
      }
    }
  }
  [[nodiscard]] std::int32_t dense_bits(float value, std::uint64_t sample) const {
    if (!std::isfinite(value)) {
      fail_sample(dense_.path(), sample, "a dense feature that is no finite number");
    }
    return std::bit_cast<std::int32_t>(value);
  }
  void read_bags(std::size_t t, std::uint64_t first, std::uint64_t end, std::vector<std::uint32_t>& ids) {
    const NpyArray array = sparse_.array(member(t), "<i4", 2);
    const std::uint64_t hotness = array.shape[1];
    ids.reserve((end - first) * hotness);
    for (std::uint64_t i = first * hotness; i < end * hotness; ++i) {
      const auto id = array.at<std::int32_t>(i);
      if (id < 0) {
        fail_sample(sparse_path_, i / hotness, fmt::format("the negative index {} in table {}", id, t));
      }
      ids.push_back(static_cast<std::uint32_t>(id));
    }
  }

  MappedFile dense_;
  MappedFile labels_;
  fs::path sparse_path_;
  NpzFile sparse_;
  std::size_t tables_;
};

std::vector<DayPiece> day_pieces(const ArrayInput& input, std::uint64_t part_bytes) {
  const auto hotness = input.hotness();
  const std::uint64_t numbers =
      std::accumulate(hotness.begin(), hotness.end(), 1 + input.sidecar.dense_features);  // of a sample
  const std::uint64_t size = std::max<std::uint64_t>(part_bytes / (4 * numbers), 1);
  std::vector<DayPiece> pieces;
  for (std::size_t day = 0; day < input.days(); ++day) {
    const std::uint64_t samples = input.sidecar.files[3 * day].samples;
    for (std::uint64_t first = 0; first < samples; first += size) {
      const std::uint64_t end = std::min(first + size, samples);
      pieces.push_back({day, first / size, first, end, end == samples});
    }
  }
  return pieces;
}

}  // namespace

std::uint64_t ArrayInput::bytes() const {
  return std::accumulate(sidecar.files.begin(), sidecar.files.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const miniapps::SidecarFile& file) { return sum + file.bytes; });
}

std::vector<std::uint64_t> ArrayInput::hotness() const {
  std::vector<std::uint64_t> counts;
  std::ranges::transform(sidecar.tables, std::back_inserter(counts), &miniapps::SidecarTable::hotness);
  return counts;
}

std::string ArrayInput::describe(std::uint64_t part_bytes) const {
  std::string text = fmt::format("arrays 1 {}\n", part_bytes);
  for (const miniapps::SidecarFile& file : sidecar.files) {
    text += file_identity(folder / file.name);
  }
  return text;
}

std::optional<ArrayInput> find_arrays(const std::vector<std::string>& inputs) {
  const auto found = std::ranges::find_if(
      inputs, [](const std::string& input) { return fs::is_directory(input) && miniapps::has_array_days(input); });
  if (found == inputs.end()) {
    return std::nullopt;
  }
  if (inputs.size() > 1) {
    fail_arrays(*found, "has day files of arrays, beside other inputs; convert one folder at a time");
  }
  return ArrayInput{*found, miniapps::describe_array_days(*found)};
}

void part_arrays(const Communicator& comm, const Workspace& workspace, const ArrayInput& input,
                 std::uint64_t part_bytes) {
  const auto pieces = day_pieces(input, part_bytes);
  command_line::Progress progress("arrays", pieces.size(), comm.rank() == 0);
  PieceParser<ArrayInput, DayReader> parser(comm, workspace, input, input.sidecar.tables.size());
  miniapps::run_agreed(comm, [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::size_t day = pieces[i].day;
      parser.run(pieces[i], day, parser.reader_of(day).is_deflated() ? day : i);
      progress.update(i + 1);
    }
  });
}

}  // namespace tutti::data
