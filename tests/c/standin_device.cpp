// SPDX-License-Identifier: BSD-3-Clause
// The C interface on "device" memory, with the stand-ins of CUDA and NCCL: what C passes reaches the device's backends,
// in stream order. Proves nothing about a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tutti/device.hpp>
#include <vector>

#include "c/every_collective.h"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

/// A communicator of C over all ranks.
class CDevice : public ::testing::Test {
 protected:
  CDevice() {
    (void)machine();
    EXPECT_EQ(tutti_comm_duplicate(MPI_COMM_WORLD, &comm_), TUTTI_SUCCESS);
    tutti_comm_rank(comm_, &rank_);
    tutti_comm_size(comm_, &size_);
    options_.stream_kind = TUTTI_STREAM_CUDA;
    options_.stream = machine().stream;
  }
  ~CDevice() override {
    machine().drain();
    tutti_comm_free(&comm_);
  }

  tutti_comm_t comm_ = TUTTI_COMM_NULL;
  int rank_ = -1;
  int size_ = 0;
  tutti_options_t options_ = TUTTI_OPTIONS_INIT;
};

#define OK(call) ASSERT_EQ(call, TUTTI_SUCCESS) << tutti_error_message()

std::vector<std::byte> bytes_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<std::int64_t> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// Both buffers of every_collective.h.
struct Buffers {
  explicit Buffers(int size) : in(every_count(size) * sizeof(std::int64_t)), out(in.size()) {}
  DeviceMemory in;
  DeviceMemory out;

  static std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> given(collective which, int rank, int size) {
    std::vector<std::int64_t> in(every_count(size));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = every_given(rank, i);
    std::vector<std::int64_t> out(in.size(), -1);
    return {in, which == every_bcast ? in : out};
  }
  static std::vector<std::int64_t> expected(collective which, int rank, int size) {
    std::vector<std::int64_t> out(every_count(size));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = every_expected(which, rank, size, i);
    return out;
  }
  [[nodiscard]] int call(collective which, form form, tutti_comm_t comm, const tutti_options_t* options,
                         tutti_request_t* request) const {
    return every_call(which, form, comm, reinterpret_cast<const std::int64_t*>(in.data()),
                      reinterpret_cast<std::int64_t*>(out.data()), options, request);
  }
};

TEST_F(CDevice, EveryCollectiveIsOrderedOnTheStream) {
  OK(tutti_comm_prepare_device(comm_));
  for (int which = 0; which < collectives; ++which) {
    for (int form = 0; form < forms; ++form) {
      SCOPED_TRACE(std::string(every_name(static_cast<collective>(which))) + ", form " + std::to_string(form));
      const Buffers buffers(size_);
      const auto [in, out] = Buffers::given(static_cast<collective>(which), rank_, size_);
      tutti_request_t request = TUTTI_REQUEST_NULL;
      // "Kernels" before and after; neither runs at its call.
      buffers.in.fill_on(machine().stream, bytes_of(in));
      buffers.out.fill_on(machine().stream, bytes_of(out));
      OK(buffers.call(static_cast<collective>(which), static_cast<enum form>(form), comm_, &options_, &request));
      if (form == persistent) {
        OK(tutti_start(&request));
      }
      if (form != blocking) {
        OK(tutti_wait_on_stream(&request, TUTTI_STREAM_CUDA, machine().stream));
      }
      std::vector<std::byte> seen;
      machine().runtime.run_host(machine().stream, [&] { seen = buffers.out.content(); });
      machine().drain();
      EXPECT_EQ(numbers_of(seen), Buffers::expected(static_cast<collective>(which), rank_, size_));
      EXPECT_TRUE(form == persistent || request == TUTTI_REQUEST_NULL);
      OK(tutti_request_free(&request));
    }
  }
}

TEST_F(CDevice, EveryCollectiveIsDoneWithoutAStream) {
  const tutti_options_t options = TUTTI_OPTIONS_INIT;
  for (int which = 0; which < collectives; ++which) {
    for (int form = 0; form < forms; ++form) {
      SCOPED_TRACE(std::string(every_name(static_cast<collective>(which))) + ", form " + std::to_string(form));
      const Buffers buffers(size_);
      const auto [in, out] = Buffers::given(static_cast<collective>(which), rank_, size_);
      buffers.in.fill(bytes_of(in));
      buffers.out.fill(bytes_of(out));
      tutti_request_t request = TUTTI_REQUEST_NULL;
      OK(buffers.call(static_cast<collective>(which), static_cast<enum form>(form), comm_, &options, &request));
      if (form == persistent) {
        OK(tutti_start(&request));
      }
      if (form != blocking) {
        OK(tutti_wait(&request, nullptr));
      }
      EXPECT_EQ(numbers_of(buffers.out.content()), Buffers::expected(static_cast<collective>(which), rank_, size_));
      OK(tutti_request_free(&request));
    }
  }
}

TEST_F(CDevice, BlockingCallsReturnBeforeTheStreamHasComeToThem) {
  OK(tutti_comm_prepare_device(comm_));
  const Buffers buffers(size_);
  const auto [in, out] = Buffers::given(every_allreduce, rank_, size_);
  options_.memory = TUTTI_MEMORY_DEVICE;
  const Gate gate(machine().stream);
  buffers.in.fill_on(machine().stream, bytes_of(in));
  buffers.out.fill_on(machine().stream, bytes_of(out));
  machine().nccl.clear_record();
  OK(buffers.call(every_allreduce, blocking, comm_, &options_, nullptr));
  EXPECT_TRUE(size_ == 1 || !machine().nccl.record().empty());
  EXPECT_FALSE(machine().runtime.is_idle(machine().stream));
  *gate.open = true;
  machine().drain();
  EXPECT_EQ(numbers_of(buffers.out.content()), Buffers::expected(every_allreduce, rank_, size_));
}

TEST_F(CDevice, NcclIsToldTheAlgorithm) {
  OK(tutti_comm_prepare_device(comm_));
  const Buffers buffers(size_);
  const auto [in, out] = Buffers::given(every_allreduce, rank_, size_);
  for (const char* algorithm : {"nccl:ring_simple", "nccl:tree"}) {
    options_.algorithm = algorithm;
    buffers.in.fill_on(machine().stream, bytes_of(in));
    machine().nccl.clear_record();
    OK(buffers.call(every_allreduce, blocking, comm_, &options_, nullptr));
    machine().drain();
    EXPECT_EQ(numbers_of(buffers.out.content()), Buffers::expected(every_allreduce, rank_, size_));
    if (size_ == 1) continue;  // a copy
    EXPECT_TRUE(machine().nccl.record().back().ends_with("by " + std::string(algorithm).substr(5) + ")"));
  }
  options_.algorithm = "nccl:pat";
  EXPECT_EQ(buffers.call(every_allreduce, blocking, comm_, &options_, nullptr), TUTTI_ERROR_INVALID_ALGORITHM);
}

TEST_F(CDevice, TestsForTheOrderOnAStreamWithoutBlocking) {
  OK(tutti_comm_prepare_device(comm_));
  const Buffers buffers(size_);
  const auto [in, out] = Buffers::given(every_allreduce, rank_, size_);
  const Gate gate(machine().stream);
  buffers.in.fill_on(machine().stream, bytes_of(in));
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(buffers.call(every_allreduce, nonblocking, comm_, &options_, &request));
  int done = 0;
  OK(tutti_test(&request, &done, nullptr));
  EXPECT_EQ(done, 0);
  while (done == 0) OK(tutti_test_on_stream(&request, &done, TUTTI_STREAM_CUDA, machine().stream));  // a first launch
  EXPECT_EQ(request, TUTTI_REQUEST_NULL);
  std::vector<std::byte> seen;
  machine().runtime.run_host(machine().stream, [&] { seen = buffers.out.content(); });
  *gate.open = true;
  machine().drain();
  EXPECT_EQ(numbers_of(seen), Buffers::expected(every_allreduce, rank_, size_));
}

TEST_F(CDevice, Report) {
  std::size_t length = 0;
  OK(tutti_comm_device_report(comm_, nullptr, 0, &length));
  const std::size_t before = length;
  OK(tutti_comm_prepare_device(comm_));
  OK(tutti_comm_device_report(comm_, nullptr, 0, &length));
  std::string text(length + 1, 'x');
  OK(tutti_comm_device_report(comm_, text.data(), text.size(), &length));
  EXPECT_NE(length, before);
  EXPECT_EQ(text.find('\0'), length);
  EXPECT_NE(text.find("NCCL"), std::string::npos) << text;
}

TEST_F(CDevice, Messages) {
  const DeviceMemory in(8 * sizeof(std::int64_t));
  const DeviceMemory out(in.size());
  const int next = (rank_ + 1) % size_;
  const int last = (rank_ + size_ - 1) % size_;
  const std::vector<std::int64_t> expected(8, 40 + last);
  const auto check = [&](const char* what) {
    std::vector<std::byte> seen;
    machine().runtime.run_host(machine().stream, [&] { seen = out.content(); });
    machine().drain();
    EXPECT_EQ(numbers_of(seen), expected) << what;
    out.fill(bytes_of(std::vector<std::int64_t>(8, -1)));
  };
  in.fill_on(machine().stream, bytes_of(std::vector<std::int64_t>(8, 40 + rank_)));
  OK(tutti_sendrecv(comm_, in.data(), 8, TUTTI_INT64, next, 1, out.data(), 8, TUTTI_INT64, last, 1, &options_,
                    nullptr));
  check("sendrecv");
  tutti_request_t requests[2];
  OK(tutti_irecv(comm_, out.data(), 8, TUTTI_INT64, last, 2, &options_, &requests[0]));
  OK(tutti_isend(comm_, in.data(), 8, TUTTI_INT64, next, 2, &options_, &requests[1]));
  for (tutti_request_t& request : requests) {
    OK(tutti_wait_on_stream(&request, TUTTI_STREAM_CUDA, machine().stream));
  }
  check("isend and irecv");
  tutti_group_t group = TUTTI_GROUP_NULL;
  OK(tutti_group_create(comm_, &options_, &group));
  OK(tutti_group_send(group, in.data(), 8, TUTTI_INT64, next, 3));
  OK(tutti_group_recv(group, out.data(), 8, TUTTI_INT64, last, 3));
  OK(tutti_group_run(group));
  check("group");
  OK(tutti_group_free(&group));
}

TEST_F(CDevice, AllocatesEveryKind) {
  const std::size_t live = machine().runtime.live_allocations();
  for (const int kind : {TUTTI_MEMORY_PINNED, TUTTI_MEMORY_DEVICE, TUTTI_MEMORY_MANAGED}) {
    void* data = nullptr;
    OK(tutti_allocate(comm_, 64 * sizeof(std::int64_t), kind, &data));
    machine().drain();
    int found = -1;
    OK(tutti_memory_kind(data, &found));
    EXPECT_EQ(found, kind);
    auto* numbers = static_cast<std::int64_t*>(data);
    const auto have = [numbers](std::int64_t value) {
      const standin::HostAccess access;
      return std::count(numbers, numbers + 64, value) == 64;
    };
    EXPECT_TRUE(have(0));
    {
      const standin::HostAccess access;
      std::fill(numbers, numbers + 64, rank_ + 1);
    }
    OK(tutti_allreduce(comm_, TUTTI_IN_PLACE, data, 64, TUTTI_INT64, TUTTI_SUM, nullptr));
    EXPECT_TRUE(have(size_ * (size_ + 1) / 2));
    machine().drain();
    OK(tutti_deallocate(data));
  }
  EXPECT_LE(live, machine().runtime.live_allocations());
}

/// What the program itself needs of a device, without CUDA's headers.
TEST_F(CDevice, DevicesAndStreams) {
  std::size_t length = 1;
  OK(tutti_why_no_device(nullptr, 0, &length));
  EXPECT_EQ(length, 0U);
  int number = -1;
  OK(tutti_device_count(&number));
  EXPECT_EQ(number, device_count());
  OK(tutti_current_device(&number));
  EXPECT_EQ(number, current_device());
  OK(tutti_set_current_device(number));
  void* data = nullptr;
  OK(tutti_device_allocate(TUTTI_MEMORY_DEVICE, 64, &data));
  int kind = -1;
  OK(tutti_memory_kind(data, &kind));
  EXPECT_EQ(kind, TUTTI_MEMORY_DEVICE);
  int idle = -1;
  bool ran = false;
  const Gate gate(machine().stream);
  machine().runtime.run_host(machine().stream, [&] { ran = true; });
  OK(tutti_stream_is_idle(TUTTI_STREAM_CUDA, machine().stream, &idle));
  EXPECT_EQ(idle, 0);
  *gate.open = true;
  OK(tutti_stream_wait(TUTTI_STREAM_CUDA, machine().stream));
  EXPECT_TRUE(ran);
  OK(tutti_stream_is_idle(TUTTI_STREAM_CUDA, machine().stream, &idle));
  EXPECT_EQ(idle, 1);
  OK(tutti_deallocate(data));
  EXPECT_EQ(tutti_deallocate(data), TUTTI_ERROR_INVALID_ARGUMENT);
}

/// A graph that holds one sum of all ranks, launched twice.
TEST_F(CDevice, Graphs) {
  struct Work {
    tutti_comm_t comm;
    const tutti_options_t* options;
    const Buffers* buffers;
    int code;
    static int enqueue(void* context) {
      const auto* work = static_cast<Work*>(context);
      if (work->code != TUTTI_SUCCESS) return tutti_error_set(work->code, "the program's own reason");
      return work->buffers->call(every_allreduce, blocking, work->comm, work->options, nullptr);
    }
  };
  OK(tutti_comm_prepare_device(comm_));
  options_.memory = TUTTI_MEMORY_DEVICE;
  const Buffers buffers(size_);
  const auto [in, out] = Buffers::given(every_allreduce, rank_, size_);
  buffers.in.fill_on(machine().stream, bytes_of(in));
  OK(buffers.call(every_allreduce, blocking, comm_, &options_, nullptr));
  machine().drain();
  Work work{comm_, &options_, &buffers, TUTTI_ERROR_IO};
  tutti_device_graph_t graph = TUTTI_DEVICE_GRAPH_NULL;
  EXPECT_EQ(tutti_device_graph_capture(TUTTI_STREAM_CUDA, machine().stream, Work::enqueue, &work, &graph),
            TUTTI_ERROR_IO);
  EXPECT_STREQ(tutti_error_message(), "the program's own reason");
  EXPECT_EQ(graph, TUTTI_DEVICE_GRAPH_NULL);
  work.code = TUTTI_SUCCESS;
  OK(tutti_device_graph_capture(TUTTI_STREAM_CUDA, machine().stream, Work::enqueue, &work, &graph));
  for (int launch = 0; launch < 2; ++launch) {
    buffers.out.fill_on(machine().stream, bytes_of(out));
    OK(tutti_device_graph_launch(graph, TUTTI_STREAM_CUDA, machine().stream));
    OK(tutti_stream_wait(TUTTI_STREAM_CUDA, machine().stream));
    EXPECT_EQ(numbers_of(buffers.out.content()), Buffers::expected(every_allreduce, rank_, size_));
  }
  OK(tutti_device_graph_free(&graph));
  EXPECT_EQ(graph, TUTTI_DEVICE_GRAPH_NULL);
}

void add_numbers(const void* in, void* inout, std::size_t count, tutti_datatype_t /*datatype*/, void* factor) {
  const auto* from = static_cast<const std::int64_t*>(in);
  auto* to = static_cast<std::int64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i] += *static_cast<const std::int64_t*>(factor) * from[i];
}

/// The program frees its operation at once; it lasts until the call that a stream waits for is done.
TEST_F(CDevice, UserOperationsOutliveTheirHandles) {
  std::int64_t factor = 1;
  const Buffers buffers(size_);
  const auto [in, out] = Buffers::given(every_allreduce, rank_, size_);
  buffers.in.fill_on(machine().stream, bytes_of(in));
  tutti_op_t op = TUTTI_OP_NULL;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(tutti_op_user(add_numbers, &factor, 1, &op));
  OK(tutti_iallreduce(comm_, buffers.in.data(), buffers.out.data(), in.size(), TUTTI_INT64, op, &options_, &request));
  OK(tutti_op_free(&op));
  OK(tutti_wait_on_stream(&request, TUTTI_STREAM_CUDA, machine().stream));
  EXPECT_EQ(request, TUTTI_REQUEST_NULL);
  std::vector<std::byte> seen;
  machine().runtime.run_host(machine().stream, [&] { seen = buffers.out.content(); });
  machine().drain();
  EXPECT_EQ(numbers_of(seen), Buffers::expected(every_allreduce, rank_, size_));
}

}  // namespace
}  // namespace tutti::test
