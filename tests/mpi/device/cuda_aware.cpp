// SPDX-License-Identifier: BSD-3-Clause
// The probe over the real MPI: what stands for device memory is host memory, which every MPI takes.
#include "backends/mpi/cuda_aware.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "device/traffic.hpp"
#include "example.hpp"

namespace {

bool says_yes = false;

/// As an MPI that is not aware of device memory and does not say so: messages of at least that many bytes are zeros.
std::size_t spoils_from = ~std::size_t{0};
/// As an MPI that does not take managed memory and does not say so.
bool spoils_managed = false;
/// Messages of device memory that were sent while NCCL worked.
int sends_in_traffic = 0;
/// The next send is an error of the MPI.
bool refuses = false;
/// Whose device memory the MPI takes, and whether it has MPICH's question for that.
constexpr int cuda = 0;
constexpr int hip = 2;
int supported_kind = cuda;
bool has_gpu_query = true;

}  // namespace

// In the places of the MPI's: the library finds these by name.
extern "C" int MPIX_GPU_query_support(int kind, int* supported) {
  *supported = says_yes && kind == supported_kind ? 1 : 0;
  return has_gpu_query ? MPI_SUCCESS : MPI_ERR_OTHER;
}

extern "C" int MPIX_Query_cuda_support() { return says_yes && supported_kind == cuda ? 1 : 0; }
extern "C" int MPIX_Query_rocm_support() { return says_yes && supported_kind == hip ? 1 : 0; }

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  static std::vector<char> zeros;
  if (refuses) {
    refuses = false;
    return MPI_ERR_BUFFER;
  }
  const tutti::MemoryKind kind = tutti::test::runtime().inspect(data).kind;
  if (kind != tutti::MemoryKind::host && !tutti::detail::device::Traffic::of(0).is_idle()) ++sends_in_traffic;
  const bool is_spoilt = spoils_managed && kind == tutti::MemoryKind::managed;
  if (type == MPI_BYTE && (is_spoilt || static_cast<std::size_t>(count) >= spoils_from)) {
    zeros.assign(static_cast<std::size_t>(count), 0);
    return PMPI_Isend(zeros.data(), count, type, to, tag, comm, request);
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace tutti::test {
namespace {

bool probe(const Communicator& comm, std::string& why) { return detail::probe_cuda_aware(*comm.state(), 0, why); }

bool is_switched_off() { return detail::config().cuda_aware == std::optional<bool>(false); }

class CudaAware : public ::testing::Test {
 protected:
  CudaAware() : comm_(device_communicator()) {
    standin::DeviceArena::instance().keep_open(true);  // the MPI, which the host runs, takes it
  }
  void TearDown() override {
    says_yes = false;
    spoils_from = ~std::size_t{0};
    supported_kind = cuda;
    has_gpu_query = true;
    runtime().be_of(detail::device::Vendor::nvidia);
  }
  void expect(bool answer, const char* part) {
    std::string why;
    EXPECT_EQ(probe(comm_, why), answer) << why;
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
  Communicator comm_;
};

TEST_F(CudaAware, TheVariableAndTheQuery) {
  says_yes = false;
  if (is_switched_off()) return expect(false, "TUTTI_CUDA_AWARE=0");
  expect(false, "says no");
  says_yes = true;
  expect(true, "arrived intact");
}

/// An MPI that takes the memory of one vendor's devices says so by the question for that vendor.
TEST_F(CudaAware, TheQueriesAreThoseOfTheVendor) {
  using detail::device::Vendor;
  if (is_switched_off()) GTEST_SKIP() << "nothing is asked";
  says_yes = true;
  for (const bool asks_mpich : {true, false})
    for (const auto& [vendor, kind] : {std::pair(Vendor::nvidia, cuda), std::pair(Vendor::amd, hip)})
      for (const int supported : {cuda, hip}) {
        has_gpu_query = asks_mpich;
        supported_kind = supported;
        runtime().be_of(vendor);
        const char* query = asks_mpich ? "MPIX_GPU_query" : kind == cuda ? "MPIX_Query_cuda" : "MPIX_Query_rocm";
        expect(supported == kind, query);
      }
}

TEST_F(CudaAware, OneRankThatSaysNoIsEnough) {
  says_yes = comm_.rank() != comm_.size() - 1;
  expect(false, is_switched_off() ? "TUTTI_CUDA_AWARE=0" : comm_.rank() == comm_.size() - 1 ? "says no" : "another");
}

TEST_F(CudaAware, WrongBytesAreFound) {
  if (is_switched_off() || comm_.size() == 1) GTEST_SKIP() << "nothing is sent";
  says_yes = true;
  for (const std::size_t from : {std::size_t{8}, std::size_t{4} << 20U}) {
    spoils_from = comm_.rank() == 0 ? from : ~std::size_t{0};
    expect(false, comm_.rank() == 1 ? "wrong bytes" : "another rank");
  }
  spoils_from = ~std::size_t{0};
  expect(true, "arrived intact");
}

TEST_F(CudaAware, AllKindsOfMemoryAreTried) {
  if (is_switched_off() || comm_.size() == 1) GTEST_SKIP() << "nothing is sent";
  says_yes = true;
  spoils_managed = comm_.rank() == 0;
  expect(false, comm_.rank() == 1 ? "of managed memory" : "another rank");
  spoils_managed = false;
  runtime().clear_record();
  const std::size_t live = runtime().live_allocations();
  expect(true, "arrived intact");
  EXPECT_EQ(std::ranges::count(runtime().record(), std::string("allocate_ordered")), 4) << "memory of a pool";
  EXPECT_EQ(runtime().live_allocations(), live);
}

TEST_F(CudaAware, NothingIsSentOrAllocatedWhileNcclWorks) {
  if (is_switched_off() || comm_.size() == 1) GTEST_SKIP() << "nothing is sent";
  says_yes = true;
  const auto stream = runtime().create_stream();
  int looks = 0;
  runtime().enqueue(stream, "nccl work", [&looks] { return ++looks > 100; });
  detail::device::Traffic::of(0).note_launch(stream);
  sends_in_traffic = 0;
  expect(true, "arrived intact");
  EXPECT_EQ(sends_in_traffic, 0);
  EXPECT_EQ(runtime().forbidden_allocations(), 0U);
  runtime().run_all();
  runtime().destroy_stream(stream);
}

TEST_F(CudaAware, ADeviceThatFailsIsANo) {
  if (is_switched_off()) GTEST_SKIP() << "nothing is sent";
  says_yes = true;
  if (comm_.rank() == 0) runtime().fail_next("copy");
  expect(false, comm_.rank() == 0 ? "copy was told to fail" : "another rank");
  expect(true, "arrived intact");
}

TEST_F(CudaAware, AnAddressThatTheMpiRefusesIsANo) {
  if (is_switched_off()) GTEST_SKIP() << "nothing is sent";
  says_yes = true;
  refuses = comm_.rank() == 0;
  expect(false, comm_.rank() == 0 ? "MPI_Isend" : "");
  expect(true, "arrived intact");
}

TEST(MayProbe, ANoIsFinalAndWithoutAQueryTheVariableDecides) {
  std::string why;
  const detail::CudaAnswer none{};
  const detail::CudaAnswer yes{true, "query"};
  const detail::CudaAnswer no{false, "query"};
  EXPECT_FALSE(detail::may_probe(none, std::nullopt, why));
  EXPECT_NE(why.find("no query"), std::string::npos) << why;
  EXPECT_TRUE(detail::may_probe(none, true, why));
  EXPECT_FALSE(detail::may_probe(none, false, why));
  EXPECT_TRUE(detail::may_probe(yes, std::nullopt, why));
  EXPECT_TRUE(detail::may_probe(yes, true, why));
  EXPECT_FALSE(detail::may_probe(yes, false, why));
  EXPECT_NE(why.find("TUTTI_CUDA_AWARE=0"), std::string::npos) << why;
  EXPECT_FALSE(detail::may_probe(no, true, why));
  EXPECT_NE(why.find("query says no"), std::string::npos) << why;
}

}  // namespace
}  // namespace tutti::test
