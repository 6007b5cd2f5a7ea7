// SPDX-License-Identifier: BSD-3-Clause
#include "tools/loaded_mpi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <tutti/error.hpp>

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

// Programs that CMake links with libraries of an MPI's name, one of them through another library.
TEST(LoadedMpi, IsFoundInPrograms) {
  const fs::path programs = TUTTI_LOADED_MPI_PROGRAMS;
  EXPECT_EQ(mpi_loaded_by(programs / "loads_mpi_abi"), "libmpi_abi.so.1");
  EXPECT_EQ(mpi_loaded_by(programs / "loads_mpi_abi_late"), "libmpi_abi.so.1");
  EXPECT_EQ(mpi_loaded_by(programs / "loads_mpi"), "libmpi.so.12");
}

TEST(LoadedMpi, IsFoundByPath) {
  const std::string before = getenv("PATH");
  setenv("PATH", (before + ":" + TUTTI_LOADED_MPI_PROGRAMS).c_str(), 1);
  EXPECT_EQ(mpi_loaded_by("loads_mpi_abi"), "libmpi_abi.so.1");
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(mpi_loaded_by("loads_mpi_abi"), "");
}

TEST(LoadedMpi, IsUnknown) {
  EXPECT_EQ(mpi_loaded_by("/bin/sh"), "");
  EXPECT_EQ(mpi_loaded_by(fs::path(TUTTI_SOURCE_DIR) / "quickstart"), "") << "a script";
  EXPECT_EQ(mpi_loaded_by("nowhere/program"), "");
  EXPECT_EQ(mpi_loaded_by(TUTTI_SOURCE_DIR), "") << "a folder";
}

class LibraryFor : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/loaded_mpi_XXXXXX";
    folder = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  void make(const char* file) const { std::ofstream(folder / file) << "a library"; }
  [[nodiscard]] std::string chosen(const char* mpi) const {
    return fs::path(library_for(mpi, {folder / "absent", folder})).filename();
  }
  [[nodiscard]] std::string refusal(const char* mpi) const {
    try {
      return "chose " + chosen(mpi);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_built);
      return error.what();
    }
  }
  fs::path folder;
};

TEST_F(LibraryFor, ChoosesAmongTwo) {
  make("libtutti-mpi.so");
  make("libtutti-mpi-abi.so");
  EXPECT_EQ(chosen("libmpi_abi.so.1"), "libtutti-mpi-abi.so");
  EXPECT_EQ(chosen("libmpi_abi.so"), "libtutti-mpi-abi.so");
  EXPECT_EQ(chosen("libmpich.so.12"), "libtutti-mpi.so");
  EXPECT_EQ(chosen("libmpi.so.12"), "libtutti-mpi.so");
  EXPECT_EQ(chosen(""), "libtutti-mpi.so");
}

TEST_F(LibraryFor, RefusesTheFileOfAnotherInterface) {
  make("libtutti-mpi.so");
  EXPECT_THAT(refusal("libmpi_abi.so.1"),
              ::testing::AllOf(::testing::HasSubstr("no libtutti-mpi-abi.so lies in"),
                               ::testing::HasSubstr("libtutti-mpi.so is for another binary interface than "
                                                    "libmpi_abi.so.1"),
                               ::testing::HasSubstr("TUTTI_MPI_ABI=ON")));
  fs::remove(folder / "libtutti-mpi.so");
  make("libtutti-mpi-abi.so");
  EXPECT_THAT(refusal("libmpich.so.12"), ::testing::HasSubstr("libtutti-mpi-abi.so is for another binary interface"));
  EXPECT_EQ(chosen(""), "libtutti-mpi-abi.so") << "a program that loads its MPI later";
}

TEST_F(LibraryFor, SaysThatThereIsNone) {
  EXPECT_THAT(refusal(""), ::testing::HasSubstr("no libtutti-mpi.so lies in"));
}

}  // namespace
}  // namespace tutti::tools
