// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/checkpoint_folders.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tutti::miniapps;

void save(const fs::path& folder, std::uint64_t step, std::uint64_t keep) {
  const fs::path to = checkpoint_folder(folder, step, keep);
  fs::create_directories(to);
  write_all(to / "manifest", "m");
  write_all(to / "part-1-0", "p");
  remove_old_checkpoints(folder, to, keep);
}

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(CheckpointFolders, KeepTheLastFew) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "all";
  for (const std::uint64_t step : {7, 90, 100, 1000}) save(folder, step, 2);
  EXPECT_EQ(names(folder), (std::vector<std::string>{"step-0000000100", "step-0000001000"}));
  EXPECT_EQ(newest_checkpoint(folder), folder / "step-0000001000");
  save(folder, 100, 2);  // the run went back
  EXPECT_EQ(names(folder), (std::vector<std::string>{"step-0000000100"}));
}

TEST(CheckpointFolders, OneAloneIsInTheFolderItself) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "all";
  save(folder, 5, 1);
  EXPECT_EQ(names(folder), (std::vector<std::string>{"manifest", "part-1-0"}));
  EXPECT_EQ(newest_checkpoint(folder), folder);
  save(folder, 6, 2);  // it is the older one of two
  EXPECT_EQ(names(folder), (std::vector<std::string>{"manifest", "part-1-0", "step-0000000006"}));
  EXPECT_EQ(newest_checkpoint(folder), folder / "step-0000000006");
  save(folder, 7, 2);
  EXPECT_EQ(names(folder), (std::vector<std::string>{"step-0000000006", "step-0000000007"}));
  save(folder, 8, 1);
  EXPECT_EQ(names(folder), (std::vector<std::string>{"manifest", "part-1-0"}));
}

/// A folder without manifest is of a save that was cut short.
TEST(CheckpointFolders, WhatIsNotWholeIsNotLoaded) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "all";
  save(folder, 5, 3);
  fs::create_directories(checkpoint_folder(folder, 6, 3));
  EXPECT_EQ(newest_checkpoint(folder), folder / "step-0000000005");
}

}  // namespace
