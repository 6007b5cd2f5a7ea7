// SPDX-License-Identifier: BSD-3-Clause
#include "planner/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <tutti/error.hpp>

#include "example.hpp"
#include "planner/remembered.hpp"

namespace tutti::detail::tuning {
namespace {

namespace fs = std::filesystem;

class TuningFiles : public ::testing::Test {
 protected:
  TuningFiles() {
    std::string pattern = (fs::temp_directory_path() / "tutti-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    ::unsetenv("TUTTI_TUNING");
  }
  ~TuningFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::unsetenv("TUTTI_TUNING");
    ::unsetenv("XDG_CACHE_HOME");
  }
  void name_file(const fs::path& path) { ::setenv("TUTTI_TUNING", path.c_str(), 1); }

  static Topology two_ranks() {
    Topology topology;
    topology.places.resize(2);
    topology.ranks_per_node = {2};
    topology.cores_per_node = {2};
    return topology;
  }
  /// A table that fits the machine that this test runs on, if it had two ranks.
  static std::vector<Section> fitting() {
    std::vector<Section> sections = test::example();
    sections[0].key = key_of(two_ranks());
    sections[1].key.cpu = sections[0].key.cpu;
    sections[1].key.mpi = sections[0].key.mpi;
    return sections;
  }
  static Finding find(bool is_part = false) { return find_table(two_ranks(), is_part); }

  fs::path folder_;
};

TEST_F(TuningFiles, AreNotWrittenThroughPlantedLinks) {
  write_file(folder_ / "victim", "mine");
  fs::create_symlink(folder_ / "victim", folder_ / ("t.json." + std::to_string(::getpid()) + ".tmp"));
  fs::create_symlink(folder_ / "victim", folder_ / "t.json");
  write_file(folder_ / "t.json", "new");
  EXPECT_EQ(read_file(folder_ / "victim"), "mine");
  EXPECT_EQ(read_file(folder_ / "t.json"), "new");
}

TEST_F(TuningFiles, AreWrittenWholeAndRead) {
  const fs::path path = folder_ / "a" / "b" / "t.json";
  write_file(path, "one");
  write_file(path, "two");
  EXPECT_EQ(read_file(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST_F(TuningFiles, ThatCannotBeWrittenAreNamed) {
  std::ofstream(folder_ / "file") << "x";
  try {
    write_file(folder_ / "file" / "t.json", "text");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io);
    EXPECT_NE(std::string(e.what()).find("file/t.json"), std::string::npos);
  }
}

TEST_F(TuningFiles, ThatAreNoneOrTooLongAreNotRead) {
  EXPECT_EQ(read_file(folder_ / "none"), std::nullopt);
  EXPECT_THROW((void)read_file(folder_), Error);
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((void)read_file(pipe), Error);
  EXPECT_THROW((void)read_file("/dev/zero"), Error);
  const fs::path large = folder_ / "large";
  std::ofstream(large) << "x";
  fs::resize_file(large, longest_file + 1);
  EXPECT_THROW((void)read_file(large), Error);
  fs::resize_file(large, longest_file);
  EXPECT_EQ(read_file(large)->size(), longest_file);
}

TEST_F(TuningFiles, NothingIsThere) {
  const Finding finding = find();
  EXPECT_EQ(finding.status, Finding::Status::nothing) << finding.report;
}

TEST_F(TuningFiles, TheCacheFolderIsLookedInto) {
  EXPECT_EQ(cache_file(), folder_ / "cache" / "tutti" / "tuning.json");
  write_file(cache_file(), print(fitting()));
  const Finding finding = find();
  EXPECT_EQ(finding.status, Finding::Status::table) << finding.report;
  EXPECT_EQ(parse(finding.text), std::vector<Section>{fitting()[0]});
  EXPECT_NE(finding.report.find(cache_file().string()), std::string::npos);
}

TEST_F(TuningFiles, TheUsersFileComesBeforeTheInstalledOne) {
  EXPECT_EQ(usual_files(), (std::vector<fs::path>{cache_file(), install_file()}));
}

TEST_F(TuningFiles, TheNamedFileComesFirst) {
  write_file(cache_file(), "damaged");
  name_file(folder_ / "mine.json");
  write_file(folder_ / "mine.json", print(fitting()));
  EXPECT_EQ(find().status, Finding::Status::table);
  ::setenv("TUTTI_TUNING", "off", 1);
  EXPECT_EQ(find().status, Finding::Status::nothing);
}

TEST_F(TuningFiles, WhatDoesNotFitInTheCacheFolderIsPassedOver) {
  for (const std::string& text : {print(test::example()), print(fitting()).substr(0, 300), std::string{}}) {
    write_file(cache_file(), text);
    const Finding finding = find();
    EXPECT_EQ(finding.status, Finding::Status::nothing);
    EXPECT_NE(finding.report.find(cache_file().string()), std::string::npos) << finding.report;
  }
}

TEST_F(TuningFiles, ANamedFileThatDoesNotFitIsRefused) {
  const fs::path path = folder_ / "mine.json";
  name_file(path);
  EXPECT_EQ(find().status, Finding::Status::refused);
  EXPECT_NE(find().report.find("no such file"), std::string::npos);
  write_file(path, print(fitting()).substr(0, 200));
  EXPECT_EQ(find().status, Finding::Status::refused);
  EXPECT_NE(find().report.find("truncated"), std::string::npos);
  write_file(path, print(test::example()));
  EXPECT_EQ(find(true).status, Finding::Status::refused);
  EXPECT_NE(find().report.find("processor"), std::string::npos);
  write_file(path, print({}));
  EXPECT_EQ(find().status, Finding::Status::refused);
}

TEST_F(TuningFiles, AFileWithoutThisNumberOfRanksIsRefusedForTheWholeJobOnly) {
  const fs::path path = folder_ / "mine.json";
  name_file(path);
  write_file(path, print({fitting()[1]}));
  EXPECT_EQ(find(false).status, Finding::Status::refused);
  EXPECT_EQ(find(true).status, Finding::Status::nothing);
  EXPECT_NE(find(true).report.find("8 ranks, here 2"), std::string::npos) << find(true).report;
}

// A table of this processor by another MPI comes first, one of another processor last.
TEST_F(TuningFiles, OfTablesThatDoNotFitTheNearestIsCompared) {
  const fs::path path = folder_ / "mine.json";
  name_file(path);
  const Section nearest = fitting()[1];
  Section by_another_mpi = nearest;
  by_another_mpi.key.mpi = "Another MPI 1.0";
  Section elsewhere = nearest;
  elsewhere.key.cpu = "another processor";
  write_file(path, print({by_another_mpi, nearest, elsewhere}));
  EXPECT_NE(find().report.find("8 ranks, here 2"), std::string::npos) << find().report;
  EXPECT_EQ(find().report.find("Another MPI"), std::string::npos) << find().report;
}

TEST_F(TuningFiles, AreReadAgainWhenTheyHaveChanged) {
  const fs::path path = folder_ / "mine.json";
  EXPECT_EQ(tables_in(path), nullptr);
  write_file(path, print(fitting()));
  const auto first = tables_in(path);
  EXPECT_EQ(first->sections(), fitting());
  EXPECT_EQ(tables_in(path), first);
  write_file(path, print({fitting()[1]}));
  EXPECT_EQ(tables_in(path)->sections(), std::vector<Section>{fitting()[1]});
  write_file(path, "damaged");
  EXPECT_THROW((void)tables_in(path), Error);
  fs::remove(path);
  EXPECT_EQ(tables_in(path), nullptr);
  EXPECT_EQ(table_of(first->text(0)), table_of(first->text(0)));
  EXPECT_EQ(table_of(first->text(0))->cell_count(), 2U);
  EXPECT_EQ(table_of(first->text(1))->cell_count(), 0U);
}

TEST_F(TuningFiles, OfAnUnreadableFileTheReasonIsTold) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const fs::path path = folder_ / "mine.json";
  write_file(path, print(fitting()));
  fs::permissions(path, fs::perms::none);
  name_file(path);
  EXPECT_EQ(find().status, Finding::Status::refused);
  EXPECT_NE(find().report.find("opened"), std::string::npos);
}

}  // namespace
}  // namespace tutti::detail::tuning
