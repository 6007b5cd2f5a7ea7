// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "sidecar.hpp"

namespace tutti::miniapps {

/// Days into which one file of text is cut, as the reference cuts Kaggle's; of several files each is a day.
inline constexpr std::uint64_t days_of_one_file = 7;

/// The entries of a folder that are named day_N and an ending, by N. Local.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::filesystem::path>> days_in(const std::filesystem::path& folder,
                                                                                  bool (*has_ending)(std::string_view));

/// The files of text in a folder: day_0, day_1 and so on, with or without an ending such as .gz, by their numbers; none
/// is no error. Throws tutti::Error (io) where two files are of one day. Local.
[[nodiscard]] std::vector<std::filesystem::path> text_days(const std::filesystem::path& folder);

/// The files of text that a path names: itself, or of a folder its days. Throws tutti::Error (io) for a folder without
/// days. Local.
[[nodiscard]] std::vector<std::filesystem::path> text_files(const std::filesystem::path& path);

/// Whether a folder has day files of arrays: day_0_dense.npy and so on. Throws tutti::Error (io) where it has those of
/// text too. Local.
[[nodiscard]] bool has_array_days(const std::filesystem::path& folder);

/// What a folder of day files of arrays says without a sidecar, as MLPerf's multi-hot set has them (Sidecar, format
/// "criteo-npy", no ragged tables): all days by their numbers, of each the files of dense, labels and sparse in this
/// order; of one day the last seventh is divided into test and validation data, of several the last one. Tables have 0
/// rows: only a scan tells how many they need. Reads headers alone. Local. Throws tutti::Error (io), one line that
/// names the file, where one is missing, damaged, of another type or does not fit the others.
[[nodiscard]] Sidecar describe_array_days(const std::filesystem::path& folder);

/// The end of each of `days` days of `count` samples: the first count % days of them are one longer.
[[nodiscard]] std::vector<std::uint64_t> cut_in_days(std::uint64_t count, std::uint64_t days);

/// Samples for training, and for tests: half of the last day is for tests, its rest for validation, unless it is the
/// only one.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> split_days(const std::vector<std::uint64_t>& day_ends);

}  // namespace tutti::miniapps
