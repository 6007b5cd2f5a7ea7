// SPDX-License-Identifier: BSD-3-Clause
#include "core/draft.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "support/temporary_folder.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t files_in(const TemporaryFolder& folder) {
  const fs::directory_iterator all(folder.path());
  return std::distance(begin(all), end(all));
}

void write(const Draft& draft, const std::string& text) {
  EXPECT_EQ(::write(draft.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(Draft, GetsItsNameOnceItIsWhole) {
  const TemporaryFolder folder;
  write_all(folder / "a", "old");
  Draft draft(folder / "a");
  ASSERT_TRUE(draft.valid());
  write(draft, "new");
  EXPECT_EQ(read_all(folder / "a"), "old");
  EXPECT_TRUE(draft.publish());
  EXPECT_EQ(read_all(folder / "a"), "new");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(Draft, VanishesIfItIsNotPublished) {
  const TemporaryFolder folder;
  { write(Draft(folder / "a"), "half"); }
  EXPECT_EQ(files_in(folder), 0);
}

TEST(Draft, IsNoOtherProcessesFile) {
  const TemporaryFolder folder;
  Draft one(folder / "a");
  Draft other(folder / "a");
  write(one, "one");
  write(other, "other");
  EXPECT_TRUE(other.publish());
  EXPECT_TRUE(one.publish());
  EXPECT_EQ(read_all(folder / "a"), "one");
}

TEST(Draft, ReplacesALinkAndLeavesItsTarget) {
  const TemporaryFolder folder;
  write_all(folder / "victim", "mine");
  fs::create_symlink(folder / "victim", folder / "a");
  Draft draft(folder / "a");
  write(draft, "new");
  EXPECT_TRUE(draft.publish());
  EXPECT_EQ(read_all(folder / "victim"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder / "a"));
  EXPECT_EQ(read_all(folder / "a"), "new");
}

TEST(Draft, SaysWhyItCannotBeMade) {
  errno = 0;
  const Draft draft("/nowhere/a");
  EXPECT_FALSE(draft.valid());
  EXPECT_EQ(errno, ENOENT);
}

TEST(NewFile, TakesNeitherAFileNorALink) {
  const TemporaryFolder folder;
  write_all(folder / "file", "mine");
  fs::create_symlink(folder / "target", folder / "link");
  for (const char* name : {"file", "link"}) {
    EXPECT_EQ(open_new(folder / name, 0600), -1) << name;
    EXPECT_EQ(errno, EEXIST) << name;
  }
  EXPECT_FALSE(fs::exists(folder / "target"));
  const int made = open_new(folder / "new", 0600);
  struct stat found {};
  EXPECT_EQ(fstat(made, &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  close(made);
}

}  // namespace
}  // namespace tutti::detail
