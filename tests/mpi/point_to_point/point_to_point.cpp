// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <tutti/collectives/barrier.hpp>
#include <tutti/environment.hpp>
#include <tutti/point_to_point.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators().front(); }
int right() { return (world().rank() + 1) % world().size(); }
int left() { return (world().rank() + world().size() - 1) % world().size(); }

template <typename T>
class PointToPoint : public ::testing::Test {};
TYPED_TEST_SUITE(PointToPoint, MovementTypes);

TYPED_TEST(PointToPoint, RingOfSendAndReceive) {
  using T = TypeParam;
  for (const std::size_t count : {0, 1, 7, 1000, 300'001})
    for (int i = 0; i < iterations; ++i) {
      const auto send_data = block_of<T>(world().rank(), 0, count, i);
      std::vector<T> recv_data(count);
      const Status status = sendrecv(world(), send_data, right(), 5, recv_data, left(), 5);
      EXPECT_EQ(status.source, left());
      EXPECT_EQ(status.tag, 5);
      EXPECT_EQ(status.count, count);
      EXPECT_TRUE(std::ranges::equal(recv_data, block_of<T>(left(), 0, count, i), is_same<T>));
    }
}

TYPED_TEST(PointToPoint, NonblockingInAnyOrderOfTags) {
  using T = TypeParam;
  constexpr std::size_t count = 321;
  constexpr int messages = 5;
  std::vector<std::vector<T>> out;
  std::vector<std::vector<T>> in(messages, std::vector<T>(count));
  std::vector<Request> requests;
  for (int m = 0; m < messages; ++m) out.push_back(block_of<T>(world().rank(), static_cast<std::size_t>(m), count, 0));
  for (int m = 0; m < messages; ++m)
    requests.push_back(irecv(world(), in[static_cast<std::size_t>(m)], left(), 10 + m));
  for (int m = messages - 1; m >= 0; --m)
    requests.push_back(isend(world(), out[static_cast<std::size_t>(m)], right(), 10 + m));
  wait_all(requests);
  for (int m = 0; m < messages; ++m) {
    const auto expected = block_of<T>(left(), static_cast<std::size_t>(m), count, 0);
    EXPECT_TRUE(std::ranges::equal(in[static_cast<std::size_t>(m)], expected, is_same<T>)) << m;
  }
}

TEST(PointToPointBlocking, SendMeetsReceive) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const std::size_t count : {std::size_t{1}, std::size_t{100'000}, std::size_t{2'000'000}}) {
    if (world().rank() == 0) send(world(), block_of<float>(0, 0, count, 1), 1, 3);
    if (world().rank() == 1) {
      std::vector<float> data(count);
      const Status status = recv(world(), data, any_source, any_tag);
      EXPECT_EQ(status.source, 0);
      EXPECT_EQ(status.tag, 3);
      EXPECT_EQ(data, block_of<float>(0, 0, count, 1));
    }
  }
}

TEST(PointToPointBlocking, ShorterMessageIsReportedByItsCount) {
  std::vector<double> in(10);
  const std::vector<double> out(4, 1.5);
  EXPECT_EQ(sendrecv(world(), out, right(), 1, in, left(), 1).count, 4U);
}

TEST(PointToPointBlocking, LongerMessageIsTruncated) {
  std::vector<double> in(2);
  const std::vector<double> out(64, 1.5);
  Request outgoing = isend(world(), out, right(), 1);
  try {
    recv(world(), in, left(), 1);
    ADD_FAILURE() << "a message that is too long was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::truncated) << e.what();
  }
  outgoing.wait();
}

TEST(PointToPointBlocking, NobodyIsDoneAtOnce) {
  std::vector<int> data(3, 7);
  send(world(), data, proc_null);
  const Status status = recv(world(), data, proc_null);
  EXPECT_EQ(status.source, proc_null);
  EXPECT_EQ(status.tag, any_tag);
  EXPECT_EQ(status.count, 0U);
  EXPECT_EQ(data, std::vector<int>(3, 7));
}

/// Constants of the host MPI mean what they mean there, also where another MPI gives their numbers another meaning.
TEST(HostConstants, AreTakenAsTheyAre) {
  std::vector<int> data(3, 7);
  send(world(), data, MPI_PROC_NULL);
  EXPECT_EQ(recv(world(), data, MPI_PROC_NULL, MPI_ANY_TAG).source, proc_null);
  EXPECT_EQ(data, std::vector<int>(3, 7));
  std::vector<int> got(3, -1);
  Request request = irecv(world(), got, MPI_ANY_SOURCE, MPI_ANY_TAG);
  send(world(), std::vector<int>(3, world().rank()), right(), 9);
  request.wait();
  EXPECT_EQ(got, std::vector<int>(3, left()));
  barrier(world());
}

/// The shift of a Cartesian communicator that does not wrap has neighbours MPI_PROC_NULL at its ends.
TEST(HostConstants, HaloOfACartesianShift) {
  MPI_Comm line = MPI_COMM_NULL;
  const int size = world().size();
  const int wraps = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wraps, 0, &line);
  const auto comm = Communicator::adopt(line);
  int before = 0;
  int behind = 0;
  MPI_Cart_shift(comm.mpi_handle(), 0, 1, &before, &behind);
  std::vector<double> halo{-1.0, static_cast<double>(comm.rank()), -1.0};
  sendrecv(comm, ConstBuffer(&halo[1], 1), behind, 0, Buffer(&halo[0], 1), before, 0);
  sendrecv(comm, ConstBuffer(&halo[1], 1), before, 1, Buffer(&halo[2], 1), behind, 1);
  EXPECT_EQ(halo[0], comm.rank() == 0 ? -1.0 : comm.rank() - 1.0);
  EXPECT_EQ(halo[2], comm.rank() == size - 1 ? -1.0 : comm.rank() + 1.0);
}

TEST(HostConstants, OwnOnesMeetNone) {
  for (const int own : {any_source, any_tag, proc_null})
    for (const int host : {MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ROOT, MPI_UNDEFINED,
                           // Those of MPICH and Intel MPI, Open MPI, the ABI of MPI 5, and SimGrid.
                           -1, -2, -3, -4, -32766, -333, -444, -555, -666})
      EXPECT_NE(own, host);
  EXPECT_NE(any_source, proc_null);
}

TEST(PointToPointArguments, WrongOnesAreNamed) {
  std::vector<int> data(3);
  const auto fails = [](const auto& call, const char* argument) {
    try {
      call();
      ADD_FAILURE() << "accepted a wrong " << argument;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(argument), std::string::npos) << e.what();
    }
  };
  fails([&] { send(world(), data, world().size()); }, "dest");
  fails([&] { send(world(), data, any_source); }, "dest");
  fails([&] { recv(world(), data, -7); }, "source");
  fails([&] { send(world(), data, 0, -1); }, "tag");
  fails([&] { send(world(), data, 0, 40'000); }, "tag");
  fails([&] { send(world(), in_place, 0); }, "buffer");
  fails([&] { send(world(), ConstBuffer(MPI_IN_PLACE, 3, DatatypeKind::int32), 0); }, "buffer");
  fails([&] { send(world(), data, MPI_ANY_SOURCE); }, "dest");
  fails([&] { send(world(), data, MPI_ROOT); }, "dest");
  fails([&] { send(world(), data, 0, MPI_ANY_TAG); }, "tag");
  fails([&] { send(world(), ConstBuffer(data.data(), ~std::size_t{0} / 4, DatatypeKind::int32), 0); }, "buffer");
  EXPECT_THROW(send(world(), ConstBuffer(data.data(), 3, Datatype::bytes(0)), 0), Error);
  fails([&] { send(world(), ConstBuffer(nullptr, 3, DatatypeKind::int32), 0); }, "buffer");
}

TEST(Group, EveryPairInAnyOrderWithoutDeadlock) {
  const int size = world().size();
  const int rank = world().rank();
  for (const std::size_t count : {std::size_t{1}, std::size_t{50'000}}) {
    std::vector<std::vector<float>> out;
    std::vector<std::vector<float>> in(static_cast<std::size_t>(size), std::vector<float>(count));
    for (int r = 0; r < size; ++r) out.push_back(block_of<float>(rank, static_cast<std::size_t>(r), count, 0));
    Group group(world());
    for (int k = 0; k < size; ++k) {
      const int peer = rank % 2 == 0 ? k : size - 1 - k;
      group.send(out[static_cast<std::size_t>(peer)], peer);
      group.recv(in[static_cast<std::size_t>(peer)], peer);
    }
    if (count == 1)
      group.run();
    else
      group.start().wait();
    for (int r = 0; r < size; ++r)
      EXPECT_EQ(in[static_cast<std::size_t>(r)], block_of<float>(r, static_cast<std::size_t>(rank), count, 0));
  }
}

TEST(PersistentMessages, CarryNewValuesAtEachStart) {
  constexpr std::size_t count = 40;
  std::vector<float> out(count);
  std::vector<float> in(count);
  Request requests[] = {recv_init(world(), in, left(), 6), send_init(world(), out, right(), 6)};
  EXPECT_TRUE(requests[0].persistent() && !requests[0].pending());
  for (int i = 0; i < 5; ++i) {
    place(out, 0, block_of<float>(world().rank(), 0, count, i));
    std::fill(in.begin(), in.end(), -1.0F);
    start_all(requests);
    wait_all(requests);
    EXPECT_EQ(in, block_of<float>(left(), 0, count, i)) << i;
    EXPECT_EQ(requests[0].status().source, left());
    EXPECT_EQ(requests[0].status().count, count);
  }
}

TEST(PersistentMessages, MeetMessagesThatAreNot) {
  std::vector<int> in(8, -1);
  Request receive = recv_init(world(), in, any_source, any_tag);
  for (int i = 1; i <= 3; ++i) {
    receive.start();
    const std::vector<int> out(static_cast<std::size_t>(2 * i), 10 * world().rank() + i);
    send(world(), out, right(), i);
    receive.wait();
    EXPECT_EQ(receive.status().source, left());
    EXPECT_EQ(receive.status().tag, i);
    EXPECT_EQ(receive.status().count, static_cast<std::size_t>(2 * i)) << "the length of the message of this start";
    EXPECT_EQ(in[static_cast<std::size_t>(2 * i) - 1], 10 * left() + i);
  }
}

TEST(PersistentMessages, ToNobodyAreDoneAtOnce) {
  std::vector<int> data(3, 7);
  Request requests[] = {recv_init(world(), data, proc_null), send_init(world(), data, proc_null)};
  for (int i = 0; i < 2; ++i) {
    start_all(requests);
    wait_all(requests);
    EXPECT_EQ(requests[0].status().source, proc_null);
  }
  EXPECT_EQ(data, std::vector<int>(3, 7));
}

TEST(PersistentMessages, ATimeoutEndsOneStartOnly) {
  std::vector<int> in(1, -1);
  Request receive = recv_init(world(), in, left(), 91, {.timeout = std::chrono::milliseconds(20)});
  receive.start();
  EXPECT_THROW(receive.wait(), Error);
  barrier(world());
  const std::vector<int> out = {world().rank()};
  Request sent = isend(world(), out, right(), 91);
  receive.start();
  receive.wait();
  sent.wait();
  EXPECT_EQ(in[0], left());
}

TEST(PersistentMessages, WrongArgumentsAreNamed) {
  std::vector<int> data(3);
  EXPECT_THROW((void)send_init(world(), data, world().size()), Error);
  EXPECT_THROW((void)recv_init(world(), data, 0, 40'000), Error);
}

TEST(Group, IsBoundOnceAndStartedAtEveryStep) {
  const auto size = static_cast<std::size_t>(world().size());
  constexpr std::size_t count = 3;
  std::vector<std::vector<int>> out(size, std::vector<int>(count));
  std::vector<std::vector<int>> in(size, std::vector<int>(count));
  Group group(world());
  for (int r = 0; r < world().size(); ++r)
    group.send(out[static_cast<std::size_t>(r)], r, 3).recv(in[static_cast<std::size_t>(r)], r, 3);
  Request halo = group.init();
  for (int i = 0; i < 4; ++i) {
    for (std::size_t r = 0; r < size; ++r) {
      place(out[r], 0, block_of<int>(world().rank(), r, count, i));
      std::fill(in[r].begin(), in[r].end(), -1);
    }
    halo.start();
    halo.wait();
    for (std::size_t r = 0; r < size; ++r)
      EXPECT_EQ(in[r], block_of<int>(static_cast<int>(r), static_cast<std::size_t>(world().rank()), count, i)) << i;
  }
  group.run();  // it is empty now: nothing is posted twice
  EXPECT_FALSE(iprobe(world(), DatatypeKind::int32, any_source, 3).has_value());
}

TEST(Probe, TellsALengthThatTheReceiverDoesNotKnow) {
  for (int i = 0; i < 3; ++i) {
    const auto count = static_cast<std::size_t>(100 * world().rank() + 7 + i);
    const auto out = block_of<double>(world().rank(), 0, count, i);
    Request sent = isend(world(), out, right(), 20 + i);
    const Status status = probe(world(), DatatypeKind::float64, any_source, any_tag);
    EXPECT_EQ(status.source, left());
    EXPECT_EQ(status.tag, 20 + i);
    ASSERT_EQ(status.count, static_cast<std::size_t>(100 * left() + 7 + i));
    std::vector<double> in(status.count);
    recv(world(), in, status.source, status.tag);
    EXPECT_EQ(in, block_of<double>(left(), 0, status.count, i));
    sent.wait();
  }
}

TEST(Probe, FindsNothingUntilAMessageIsHere) {
  EXPECT_FALSE(iprobe(world(), DatatypeKind::int32, left(), 44).has_value());
  barrier(world());
  const std::vector<int> out(5, world().rank());
  Request sent = isend(world(), out, right(), 44);
  std::optional<Status> found;
  while (!found) found = iprobe(world(), DatatypeKind::int32, left(), 44);
  EXPECT_EQ(found->count, 5U);
  EXPECT_FALSE(iprobe(world(), DatatypeKind::int32, left(), 45).has_value()) << "a message of another tag";
  std::vector<int> in(5);
  recv(world(), in, left(), 44);
  EXPECT_EQ(in, std::vector<int>(5, left()));
  sent.wait();
  EXPECT_FALSE(iprobe(world(), DatatypeKind::int32, left(), 44).has_value()) << "the message was received";
}

TEST(Probe, OfNobodyAndWrongArguments) {
  EXPECT_EQ(probe(world(), DatatypeKind::int8, proc_null).source, proc_null);
  EXPECT_THROW(probe(world(), DatatypeKind::int8, world().size()), Error);
  EXPECT_THROW((void)iprobe(world(), Datatype::bytes(0), 0), Error);
  EXPECT_THROW(probe(world(), DatatypeKind::int8, left(), 77, {.timeout = std::chrono::milliseconds(20)}), Error);
}

/// Three receives, whose messages are sent by `let` one by one, by all ranks at the same time.
struct Three {
  std::vector<std::vector<int>> in = std::vector<std::vector<int>>(3, std::vector<int>(1));
  std::vector<Request> requests;
  Three() {
    for (int m = 0; m < 3; ++m) requests.push_back(irecv(world(), in[static_cast<std::size_t>(m)], left(), 60 + m));
  }
  void let(int m) const {
    barrier(world());
    send(world(), std::vector<int>{m}, right(), 60 + m);
  }
  /// Returns once request m has ended, and completes none.
  void await(std::size_t m) const {
    while (requests[m].active()) {
      progress();
      std::this_thread::yield();
    }
  }
};

TEST(TestAll, LeavesRequestsUntilAllAreDone) {
  Three three;
  three.let(2);
  three.let(0);
  three.await(0);
  three.await(2);
  EXPECT_FALSE(test_all(three.requests));
  EXPECT_TRUE(three.requests[0].valid() && three.requests[2].pending()) << "a request was completed too early";
  three.let(1);
  while (!test_all(three.requests)) continue;
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_FALSE(three.requests[m].valid());
    EXPECT_EQ(three.in[m][0], static_cast<int>(m));
  }
  EXPECT_TRUE(test_all(three.requests)) << "empty requests are done";
}

TEST(TestAny, CompletesOneThatIsDone) {
  Three three;
  EXPECT_EQ(test_any(std::span(three.requests).subspan(1, 1)), std::nullopt);
  three.let(1);
  std::optional<std::size_t> index;
  while (!index) index = test_any(three.requests);
  EXPECT_EQ(*index, 1U);
  EXPECT_FALSE(three.requests[1].valid());
  EXPECT_TRUE(three.requests[0].pending() && three.requests[2].pending());
  three.let(0);
  three.let(2);
  wait_all(three.requests);
  EXPECT_EQ(test_any(three.requests), std::nullopt);
}

TEST(WaitSome, GivesAllThatAreDone) {
  Three three;
  three.let(2);
  EXPECT_EQ(wait_some(three.requests), std::vector<std::size_t>{2});
  EXPECT_TRUE(test_some(three.requests).empty());
  three.let(0);
  three.let(1);
  three.await(0);
  three.await(1);
  EXPECT_EQ(wait_some(three.requests), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(wait_some(three.requests).empty());
  EXPECT_EQ(three.in[0][0] + three.in[1][0] + three.in[2][0], 3);
}

TEST(WaitSome, ThrowsAfterTheOthersAreCompleted) {
  std::vector<int> in(1);
  std::vector<Request> requests;
  requests.push_back(irecv(world(), in, left(), 95, {.timeout = std::chrono::milliseconds(1)}));
  while (requests[0].active()) progress();
  requests.push_back(irecv(world(), in, left(), 96));
  send(world(), std::vector<int>{5}, right(), 96);
  while (requests[1].active()) progress();
  EXPECT_THROW((void)wait_some(requests), Error);
  EXPECT_FALSE(requests[0].valid() || requests[1].valid());
  EXPECT_EQ(in[0], 5);
}

TEST(WaitAny, GivesEveryRequestOnce) {
  std::vector<std::vector<int>> in(4, std::vector<int>(2));
  std::vector<Request> requests;
  for (int m = 0; m < 4; ++m) requests.push_back(irecv(world(), in[static_cast<std::size_t>(m)], left(), m));
  for (int m = 0; m < 4; ++m) send(world(), std::vector<int>(2, m), right(), m);
  std::vector<bool> seen(4, false);
  while (const auto index = wait_any(requests)) {
    EXPECT_FALSE(seen[*index]);
    seen[*index] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(4, true));
  EXPECT_EQ(in[3], std::vector<int>(2, 3));
}

}  // namespace
}  // namespace tutti::test
