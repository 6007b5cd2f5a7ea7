// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "example.hpp"

namespace tutti::test {
namespace {

/// Numbers in device memory of the stand-in.
class Numbers {
 public:
  explicit Numbers(std::size_t count) : count_(count), memory_(MemoryKind::device, count * sizeof(int)) { set(-1); }
  [[nodiscard]] int* data() const { return reinterpret_cast<int*>(memory_.data()); }
  void set(int value) const {
    const standin::HostAccess access;
    std::fill_n(data(), count_, value);
  }
  void count_from(int value) const {
    const standin::HostAccess access;
    std::iota(data(), data() + count_, value);
  }
  [[nodiscard]] std::vector<int> read() const {
    const standin::HostAccess access;
    return {data(), data() + count_};
  }
  [[nodiscard]] Buffer buffer() const { return {data(), count_}; }

 private:
  std::size_t count_;
  Memory memory_;
};

std::vector<int> counted(std::size_t count, int from) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

/// Work that is done late on a stream.
void late(const Stream& stream, std::function<void()> act) {
  runtime().enqueue(stream.handle, "late", [act = std::move(act), looks = 0]() mutable {
    if (++looks < 25) return false;
    act();
    return true;
  });
}

/// Work that is done as soon as the stream comes to it.
void after(const Stream& stream, std::function<void()> act) {
  runtime().enqueue(stream.handle, "after", [act = std::move(act)] {
    act();
    return true;
  });
}

class DevicePointToPoint : public ::testing::TestWithParam<bool> {
 protected:
  DevicePointToPoint() : comm_(device_communicator(GetParam())), stream_(StreamKind::cuda, runtime().create_stream()) {
    next_ = (comm_.rank() + 1) % comm_.size();
    former_ = (comm_.rank() + comm_.size() - 1) % comm_.size();
  }
  void TearDown() override {
    runtime().run_all();
    runtime().destroy_stream(stream_.handle);
  }
  [[nodiscard]] Options on_stream() const { return {.stream = stream_}; }

  Communicator comm_;
  Stream stream_;
  int next_ = 0;
  int former_ = 0;
};

TEST_P(DevicePointToPoint, ARingWithoutAStream) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{40'001}}) {
    const Numbers from(count);
    const Numbers to(count);
    from.count_from(comm_.rank());
    const Status status = sendrecv(comm_, from.buffer(), next_, 3, to.buffer(), former_, 3);
    EXPECT_EQ(status.source, former_);
    EXPECT_EQ(status.count, count);
    EXPECT_EQ(to.read(), counted(count, former_));
  }
}

TEST_P(DevicePointToPoint, ARingOnAStream) {
  const Numbers from(1000);
  const Numbers to(1000);
  late(stream_, [&] {
    from.count_from(comm_.rank());
    to.set(-2);  // what the receive must not overtake
  });
  sendrecv(comm_, from.buffer(), next_, 0, to.buffer(), former_, 0, on_stream());
  std::vector<int> taken;
  after(stream_, [&] { taken = to.read(); });
  runtime().run_all();
  EXPECT_EQ(taken, counted(1000, former_));
}

TEST_P(DevicePointToPoint, NonblockingOnesAreDoneAfterWait) {
  const Numbers from(777);
  const Numbers to(777);
  late(stream_, [&] { from.count_from(comm_.rank()); });
  Request recv = irecv(comm_, to.buffer(), former_, 1, on_stream());
  Request send = isend(comm_, from.buffer(), next_, 1, on_stream());
  recv.wait();
  EXPECT_EQ(to.read(), counted(777, former_));
  EXPECT_EQ(recv.status().count, 777U);
  send.wait();
}

TEST_P(DevicePointToPoint, WaitOnAStreamOrdersWhatFollows) {
  const Numbers from(777);
  const Numbers to(777);
  late(stream_, [&] { from.count_from(comm_.rank()); });
  Request recv = irecv(comm_, to.buffer(), former_, 1, on_stream());
  Request send = isend(comm_, from.buffer(), next_, 1, on_stream());
  recv.wait(stream_);
  send.wait(stream_);
  std::vector<int> taken;
  after(stream_, [&] {
    taken = to.read();
    from.set(-3);
  });
  runtime().run_all();
  EXPECT_EQ(taken, counted(777, former_));
}

TEST_P(DevicePointToPoint, SendsDoNotOvertakeEachOther) {
  const Numbers from(100);
  const Numbers other(100);
  other.count_from(2000);
  const std::vector<int> host = counted(100, 1000);
  std::vector<int> first(100);
  std::vector<int> second(100);
  std::vector<int> third(100);
  late(stream_, [&] { from.count_from(comm_.rank()); });
  // All of one tag: the first is late, the others are ready at once.
  Request a = isend(comm_, from.buffer(), next_, 5, on_stream());
  Request b = isend(comm_, std::span(host), next_, 5);
  Request c = isend(comm_, other.buffer(), next_, 5);
  recv(comm_, std::span(first), former_, 5);
  recv(comm_, std::span(second), any_source, any_tag);
  recv(comm_, std::span(third), former_, 5);
  Request all[] = {std::move(a), std::move(b), std::move(c)};
  wait_all(all);
  EXPECT_EQ(first, counted(100, former_));
  EXPECT_EQ(second, host);
  EXPECT_EQ(third, counted(100, 2000));
}

TEST_P(DevicePointToPoint, WildcardsAndShorterMessages) {
  const Numbers from(10);
  const Numbers to(50);
  from.count_from(7);
  Request sent = isend(comm_, from.buffer(), next_, 9);
  const Status status = recv(comm_, to.buffer(), any_source, any_tag, on_stream());
  sent.wait();
  runtime().run_all();
  EXPECT_EQ(status.source, former_);
  EXPECT_EQ(status.tag, 9);
  EXPECT_EQ(status.count, 10U);
  std::vector<int> expected = counted(10, 7);
  expected.resize(50, -1);
  EXPECT_EQ(to.read(), expected);
}

TEST_P(DevicePointToPoint, AMessageThatIsTooLongIsAnError) {
  const Numbers from(50);
  const Numbers to(10);
  Request sent = isend(comm_, from.buffer(), next_, 9);
  try {
    recv(comm_, to.buffer(), former_, 9);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::truncated) << e.what();
  }
  sent.wait();
  EXPECT_EQ(to.read(), std::vector<int>(10, -1));
  const Numbers again(50);
  sendrecv(comm_, from.buffer(), next_, 0, again.buffer(), former_, 0);
  EXPECT_EQ(again.read(), from.read());
}

TEST_P(DevicePointToPoint, GroupsMixDeviceAndHostMemory) {
  const auto size = static_cast<std::size_t>(comm_.size());
  std::vector<Numbers> from;
  std::vector<Numbers> to;
  std::vector<std::vector<int>> host(size, std::vector<int>(20));
  const std::vector<int> mine = counted(20, 500 + comm_.rank());
  for (std::size_t r = 0; r < size; ++r) {
    from.emplace_back(30);
    to.emplace_back(30);
  }
  for (const bool blocking : {true, false}) {
    Group group(comm_, on_stream());
    late(stream_, [&] {
      for (std::size_t r = 0; r < size; ++r) from[r].count_from(comm_.rank() * 100 + static_cast<int>(r));
    });
    for (int r = 0; r < comm_.size(); ++r) {
      const auto peer = static_cast<std::size_t>(r);
      group.send(from[peer].buffer(), r, 1).recv(to[peer].buffer(), r, 1);
      group.send(std::span(mine), r, 2).recv(std::span(host[peer]), r, 2);
    }
    group.send(from[0].buffer(), proc_null).recv(to[0].buffer(), proc_null);
    if (blocking)
      group.run();
    else
      group.start().wait();
    runtime().run_all();
    for (std::size_t r = 0; r < size; ++r) {
      EXPECT_EQ(to[r].read(), counted(30, static_cast<int>(r) * 100 + comm_.rank()));
      EXPECT_EQ(host[r], counted(20, 500 + static_cast<int>(r)));
      to[r].set(-1);
    }
  }
}

TEST_P(DevicePointToPoint, PersistentOnesReadTheBufferAtEachStart) {
  const Numbers from(777);
  const Numbers to(777);
  Group group(comm_, on_stream());
  Request ring = group.send(from.buffer(), next_, 4).recv(to.buffer(), former_, 4).init();
  Request one = recv_init(comm_, to.buffer(), former_, 5, on_stream());
  for (int i = 0; i < 3; ++i) {
    late(stream_, [&, i] {
      from.count_from(1000 * i + comm_.rank());
      to.set(-2);
    });
    ring.start();
    if (i == 1) {  // the next start waits for what was only ordered on the stream
      ring.wait(stream_);
    } else {
      ring.wait();
    }
    std::vector<int> taken;
    after(stream_, [&] { taken = to.read(); });
    runtime().run_all();
    EXPECT_EQ(taken, counted(777, 1000 * i + former_)) << i;
    to.set(-3);
    one.start();
    send(comm_, from.buffer(), next_, 5);
    one.wait();
    EXPECT_EQ(to.read(), counted(777, 1000 * i + former_)) << i;
    EXPECT_EQ(one.status().count, 777U);
  }
}

TEST_P(DevicePointToPoint, ATimeoutIsAnErrorAndOthersGoOn) {
  const Numbers to(10);
  EXPECT_THROW(recv(comm_, to.buffer(), former_, 77, {.stream = stream_, .timeout = std::chrono::milliseconds(50)}),
               Error);
  const Numbers from(10);
  from.count_from(comm_.rank());
  sendrecv(comm_, from.buffer(), next_, 0, to.buffer(), former_, 0);
  EXPECT_EQ(to.read(), counted(10, former_));
}

TEST_P(DevicePointToPoint, AStreamUnderCaptureIsRefused) {
  const Numbers from(10);
  Request bound = send_init(comm_, from.buffer(), next_, 0, on_stream());
  runtime().begin_capture(stream_.handle);
  try {
    (void)isend(comm_, from.buffer(), next_, 0, on_stream());
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_supported);
    EXPECT_NE(std::string(e.what()).find("capture"), std::string::npos);
  }
  EXPECT_THROW((void)send_init(comm_, from.buffer(), next_, 0, on_stream()), Error);
  bound.start();
  EXPECT_THROW(bound.wait(), Error);
  runtime().destroy_graph(runtime().end_capture(stream_.handle));
}

INSTANTIATE_TEST_SUITE_P(Messages, DevicePointToPoint, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "fromDeviceMemory" : "throughPinnedMemory"; });

}  // namespace
}  // namespace tutti::test
