// SPDX-License-Identifier: BSD-3-Clause
// The main function of every MPI test: each rank runs the same tests; only rank 0 reports, unless another rank fails.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/list.hpp"
#include "support/file_backend.hpp"
#include "support/standin/xpmem.hpp"
#include "topology/discover.hpp"

namespace {

/// What a rank other than 0 says: failures only.
class FailuresOnly : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestStart(const ::testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s %s:%d\n%s\n", rank_, test_.c_str(), result.file_name(), result.line_number(),
                 result.message());
  }

 private:
  int rank_;
  std::string test_;
};

int thread_level() {
  const char* wanted = std::getenv("TUTTI_TEST_THREADS");
  return wanted != nullptr && std::strcmp(wanted, "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

/// Whether the stand-in for XPMEM is there, with other ranks, and no rank has attached anything.
bool has_idle_xpmem() {
  if (!tutti::test::standin_xpmem::is_loaded()) return false;
  int attaches = tutti::test::standin_xpmem::counts().attaches;
  MPI_Allreduce(MPI_IN_PLACE, &attaches, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size > 1 && attaches == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, thread_level(), &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  tutti::detail::looks_at_kernels = std::getenv("TUTTI_TEST_APART") == nullptr;
  const char* only = std::getenv("TUTTI_TEST_BACKEND");
  const bool by_files = only != nullptr && std::strcmp(only, "file") == 0;
  if (by_files) tutti::detail::add_backend(tutti::test::file_backend);
  int mine = RUN_ALL_TESTS();
  if (by_files && tutti::test::executions_by_files() == 0) {
    std::fprintf(stderr, "no call was made by files\n");
    mine = 1;
  }
  // Calls that are refused look like tests that pass.
  if (has_idle_xpmem()) {
    std::fprintf(stderr, "the stand-in for XPMEM was loaded, but nothing was attached\n");
    mine = 1;
  }
  const auto& unit = *::testing::UnitTest::GetInstance();
  const bool all_skipped = unit.successful_test_count() == 0 && unit.skipped_test_count() > 0;
  int worst = mine;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && worst == 0) std::printf("all ranks passed\n");
  MPI_Finalize();
  if (worst != 0) return 1;
  return all_skipped ? 77 : 0;
}
