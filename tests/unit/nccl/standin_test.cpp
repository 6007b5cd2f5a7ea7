// SPDX-License-Identifier: BSD-3-Clause
// The stand-in itself: it must refuse what NCCL does not allow, or tests with it show nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/standin/device_arena.hpp"
#include "support/standin/nccl.hpp"

namespace tutti::standin {
namespace {

using namespace detail::nccl;

class OneRank : public ::testing::Test {
 protected:
  OneRank() : stream_(runtime_.create_stream()) { comm_ = make(); }
  CommHandle make() {
    UniqueId id;
    EXPECT_EQ(table_.get_unique_id(&id), Result::success);
    Config config;
    config.blocking = 0;
    CommHandle comm = nullptr;
    EXPECT_EQ(table_.comm_init_rank_config(&comm, 1, id, 0, &config), Result::in_progress);
    return comm;
  }
  Result settle(CommHandle comm) const {
    Result state = Result::in_progress;
    while (state == Result::in_progress) EXPECT_EQ(table_.comm_get_async_error(comm, &state), Result::success);
    return state;
  }
  template <typename T>
  T* device(std::initializer_list<T> values) {
    auto* data = static_cast<T*>(runtime_.allocate(MemoryKind::device, values.size() * sizeof(T)));
    std::copy(values.begin(), values.end(), data);
    return data;
  }
  Result sum(const float* in, float* out, std::size_t n) {
    return table_.all_reduce(in, out, n, DataType::float32, RedOp::sum, comm_, stream_);
  }
  void expect_violation(const std::string& part) {
    ASSERT_FALSE(nccl_.violations().empty()) << "allowed, but should hold: " << part;
    EXPECT_NE(nccl_.violations().back().find(part), std::string::npos) << nccl_.violations().back();
  }

  Runtime runtime_{1};
  const HostAccess access_{};
  Nccl nccl_{runtime_, 22809};
  const Table& table_ = nccl_.table();
  StreamHandle stream_;
  CommHandle comm_ = nullptr;
};

TEST_F(OneRank, WorkIsDoneInStreamOrderAndNotAtTheCall) {
  EXPECT_EQ(settle(comm_), Result::success);
  float* in = device({1.F, 2.F});
  float* out = device({0.F, 0.F});
  EXPECT_EQ(sum(in, out, 2), Result::success);
  EXPECT_EQ(out[1], 0.F);
  EXPECT_EQ(nccl_.in_flight(), 1);
  runtime_.run_all();
  EXPECT_EQ(out[1], 2.F);
  EXPECT_EQ(nccl_.in_flight(), 0);
  EXPECT_EQ(nccl_.record().back(), "all_reduce(count=2, float32, sum)");
}

TEST_F(OneRank, InProgressMeansNotYetOnTheStream) {
  EXPECT_EQ(settle(comm_), Result::success);
  nccl_.set_in_progress(2);
  float* in = device({1.F});
  float* out = device({0.F});
  EXPECT_EQ(sum(in, out, 1), Result::in_progress);
  runtime_.run_all();
  EXPECT_EQ(out[0], 0.F);
  EXPECT_EQ(settle(comm_), Result::success);
  runtime_.run_all();
  EXPECT_EQ(out[0], 1.F);
}

TEST_F(OneRank, ACallWhileOneIsInProgressIsRefused) {
  nccl_.expect_violations();
  float* data = device({1.F});
  EXPECT_EQ(sum(data, data, 1), Result::invalid_usage);
  expect_violation("in progress");
}

TEST_F(OneRank, UseAfterAbortIsRefused) {
  nccl_.expect_violations();
  EXPECT_EQ(table_.comm_abort(comm_), Result::success);
  EXPECT_EQ(nccl_.live_communicators(), 0);
  Result state = Result::success;
  EXPECT_EQ(table_.comm_get_async_error(comm_, &state), Result::invalid_usage);
  expect_violation("aborted");
}

TEST_F(OneRank, TheEndOfABusyCommunicatorIsRefused) {
  nccl_.expect_violations();
  EXPECT_EQ(settle(comm_), Result::success);
  float* data = device({1.F});
  EXPECT_EQ(sum(data, data, 1), Result::success);
  EXPECT_EQ(table_.comm_destroy(comm_), Result::invalid_usage);
  expect_violation("in flight");
}

TEST_F(OneRank, TheEndWhileGraphsLiveIsRefused) {
  nccl_.expect_violations();
  EXPECT_EQ(settle(comm_), Result::success);
  float* data = device({1.F});
  runtime_.begin_capture(stream_);
  EXPECT_EQ(sum(data, data, 1), Result::success);
  const int graph = runtime_.end_capture(stream_);
  EXPECT_EQ(table_.comm_abort(comm_), Result::invalid_usage);
  expect_violation("graphs");
  runtime_.destroy_graph(graph);
  EXPECT_EQ(table_.comm_abort(comm_), Result::success);
}

TEST_F(OneRank, HostMemoryIsRefused) {
  nccl_.expect_violations();
  EXPECT_EQ(settle(comm_), Result::success);
  float host[1] = {1.F};
  EXPECT_EQ(sum(host, host, 1), Result::invalid_usage);
  expect_violation("host");
}

TEST_F(OneRank, ASendToItselfNeedsItsReceiveInTheGroup) {
  EXPECT_EQ(settle(comm_), Result::success);
  const float* in = device({4.F});
  float* out = device({0.F});
  EXPECT_EQ(table_.group_start(), Result::success);
  EXPECT_EQ(table_.send(in, 1, DataType::float32, 0, comm_, stream_), Result::success);
  EXPECT_EQ(table_.recv(out, 1, DataType::float32, 0, comm_, stream_), Result::success);
  EXPECT_EQ(table_.group_end(), Result::success);
  runtime_.run_all();
  EXPECT_EQ(out[0], 4.F);
  nccl_.expect_violations();
  EXPECT_EQ(table_.send(in, 1, DataType::float32, 0, comm_, stream_), Result::success);
  runtime_.run_all();
  expect_violation("without its receive");
}

TEST_F(OneRank, EightBitFloatsCameWith2_24) {
  Nccl older(runtime_, 22300);
  older.expect_violations();
  const CommHandle comm = make();
  EXPECT_EQ(settle(comm), Result::success);
  auto* data = device<std::uint8_t>({0});
  EXPECT_EQ(older.table().all_reduce(data, data, 1, DataType::float8_e4m3, RedOp::sum, comm, stream_),
            Result::invalid_usage);
}

TEST_F(OneRank, PreMultipliedSumsMultiply) {
  EXPECT_EQ(settle(comm_), Result::success);
  RedOp twice = RedOp::sum;
  double factor = 2;
  ASSERT_EQ(
      table_.red_op_create_pre_mul_sum(&twice, &factor, DataType::float64, ScalarResidence::host_immediate, comm_),
      Result::success);
  double* data = device({1.5, -4.0});
  EXPECT_EQ(table_.all_reduce(data, data, 2, DataType::float64, twice, comm_, stream_), Result::success);
  runtime_.run_all();
  EXPECT_EQ(data[0], 3.0);
}

}  // namespace
}  // namespace tutti::standin
