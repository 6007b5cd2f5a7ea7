// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line/launcher.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using tutti::command_line::launcher_warning;

class Launcher : public ::testing::Test {
 protected:
  Launcher() { clear(); }
  ~Launcher() override { clear(); }
  static void clear() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                             "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
      ::unsetenv(name);
  }
};

TEST_F(Launcher, OfAnotherMpiIsNamedByOneProcess) {
  EXPECT_EQ(launcher_warning("tutti", 1, "MPICH"), "");
  for (const auto& [size, rank] :
       {std::pair("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), std::pair("PMI_SIZE", "PMI_RANK"),
        std::pair("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")}) {
    clear();
    ::setenv(size, "4", 1);
    ::setenv(rank, "0", 1);
    const std::string warning = launcher_warning("tutti-dlrm", 1, "MPICH Version: 4.0.2");
    for (const char* part : {"tutti-dlrm: warning", "4 processes", size, "MPICH Version: 4.0.2"})
      EXPECT_NE(warning.find(part), std::string::npos) << warning;
    EXPECT_EQ(launcher_warning("tutti", 4, "MPICH"), "") << "a world of all processes";
    ::setenv(rank, "3", 1);
    EXPECT_EQ(launcher_warning("tutti", 1, "MPICH"), "") << "another process speaks";
    ::setenv(size, "1", 1);
    ::setenv(rank, "0", 1);
    EXPECT_EQ(launcher_warning("tutti", 1, "MPICH"), "") << "a job of one";
  }
}

}  // namespace
