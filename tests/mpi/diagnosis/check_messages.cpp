// SPDX-License-Identifier: BSD-3-Clause
// Check mode: the receive of a message that was sent with another datatype is an error that names both, and messages
// whose datatypes agree are none, in whatever order they come and are waited for.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "checked.hpp"

namespace tutti::test {
namespace {

int right_of(const Communicator& comm) { return (comm.rank() + 1) % comm.size(); }
int left_of(const Communicator& comm) { return (comm.rank() + comm.size() - 1) % comm.size(); }

/// Each rank sends three elements to its right and receives from its left; returns what came of the receive.
using Exchange = std::function<Outcome(const Communicator&, ConstBuffer, Buffer)>;

Outcome waits(const Communicator& comm, ConstBuffer out, Buffer in) {
  Request receive = irecv(comm, in, left_of(comm), 7);
  Request sent = isend(comm, out, right_of(comm), 7);
  const Outcome outcome = outcome_of([&] { receive.wait(); });
  sent.wait();
  return outcome;
}

Outcome waits_for_any(const Communicator& comm, ConstBuffer out, Buffer in) {
  Request receive = irecv(comm, in, any_source, any_tag);
  Request sent = isend(comm, out, right_of(comm), 7);
  const Outcome outcome = outcome_of([&] { receive.wait(); });
  sent.wait();
  return outcome;
}

Outcome sends_and_receives(const Communicator& comm, ConstBuffer out, Buffer in) {
  return outcome_of([&] { sendrecv(comm, out, right_of(comm), 7, in, left_of(comm), 7); });
}

Outcome blocks(const Communicator& comm, ConstBuffer out, Buffer in) {
  Request sent = isend(comm, out, right_of(comm), 7);
  const Outcome outcome = outcome_of([&] { recv(comm, in, left_of(comm), 7); });
  sent.wait();
  return outcome;
}

Outcome sends_blocking(const Communicator& comm, ConstBuffer out, Buffer in) {
  Request receive = irecv(comm, in, left_of(comm), 7);
  send(comm, out, right_of(comm), 7);
  return outcome_of([&] { receive.wait(); });
}

/// With a timeout no call goes the short way.
Outcome within_a_time(const Communicator& comm, ConstBuffer out, Buffer in) {
  Options options;
  options.timeout = 20s;
  Request sent = isend(comm, out, right_of(comm), 7);
  const Outcome outcome = outcome_of([&] { recv(comm, in, left_of(comm), 7, options); });
  sent.wait();
  return outcome;
}

Outcome runs_a_group(const Communicator& comm, ConstBuffer out, Buffer in) {
  return outcome_of([&] { Group(comm).send(out, right_of(comm), 7).recv(in, left_of(comm), 7).run(); });
}

Outcome starts_a_group(const Communicator& comm, ConstBuffer out, Buffer in) {
  Request request = Group(comm).send(out, right_of(comm), 7).recv(in, left_of(comm), 7).start();
  return outcome_of([&] { request.wait(); });
}

/// Every start is compared: the first error is that of the last round.
Outcome persists(const Communicator& comm, ConstBuffer out, Buffer in) {
  Outcome outcome;
  Request sends = send_init(comm, out, right_of(comm), 7);
  Request receives = recv_init(comm, in, left_of(comm), 7);
  for (int round = 0; round < 3; ++round) {
    receives.start();
    sends.start();
    outcome = outcome_of([&] { receives.wait(); });
    sends.wait();
  }
  return outcome;
}

Outcome inits_a_group(const Communicator& comm, ConstBuffer out, Buffer in) {
  Outcome outcome;
  Request request = Group(comm).send(out, right_of(comm), 7).recv(in, left_of(comm), 7).init();
  for (int round = 0; round < 3; ++round) {
    request.start();
    outcome = outcome_of([&] { request.wait(); });
  }
  return outcome;
}

struct Row {
  std::string name;
  Exchange exchange;
};
std::ostream& operator<<(std::ostream& to, const Row& row) { return to << row.name; }

class Messages : public testing::TestWithParam<Row> {};

TEST_P(Messages, OfOtherDatatypesAreFound) {
  const Communicator comm = checked();
  const std::array<float, 3> out{1.0F, 2.0F, 3.0F};
  std::array<std::int32_t, 3> in{};
  const Outcome outcome = GetParam().exchange(comm, out, in);
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_TRUE(outcome.has("the datatypes of a message with tag 7 differ")) << outcome.text;
  EXPECT_TRUE(outcome.has("rank " + std::to_string(left_of(comm)) + " sends float32 (count 3)")) << outcome.text;
  EXPECT_TRUE(outcome.has("rank " + std::to_string(comm.rank()) + " receives int32 (count 3)")) << outcome.text;
  EXPECT_NE(in[0], 0);  // the message is there
}

TEST_P(Messages, OfEqualDatatypesAreNot) {
  const Communicator comm = checked();
  for (int round = 1; round < 20; ++round) {
    const std::array<int, 3> out{round, comm.rank(), 0};
    std::array<int, 3> in{};
    const Outcome outcome = GetParam().exchange(comm, out, in);
    EXPECT_EQ(outcome.code, ErrorCode::success) << outcome.text;
    EXPECT_EQ(in[0], round);
    EXPECT_EQ(in[1], left_of(comm));
    barrier(comm);  // a receive with wildcards must not take a message of the next round
  }
}

// The difference leaves the communicator as good as before, and the next one is found too.
TEST_P(Messages, GoOnAfterADifference) {
  const Communicator comm = checked();
  const std::array<float, 3> other{};
  const std::array<int, 3> out{5, 6, 7};
  std::array<int, 3> in{};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(GetParam().exchange(comm, other, in).code, ErrorCode::mismatch);
    barrier(comm);
    EXPECT_EQ(GetParam().exchange(comm, out, in).code, ErrorCode::success);
    EXPECT_EQ(in, out);
    barrier(comm);
  }
}

INSTANTIATE_TEST_SUITE_P(Check, Messages,
                         testing::Values(Row{"Nonblocking", waits}, Row{"FromAny", waits_for_any},
                                         Row{"Sendrecv", sends_and_receives}, Row{"BlockingRecv", blocks},
                                         Row{"BlockingSend", sends_blocking}, Row{"WithTimeout", within_a_time},
                                         Row{"BlockingGroup", runs_a_group}, Row{"Group", starts_a_group},
                                         Row{"Persistent", persists}, Row{"PersistentGroup", inits_a_group}),
                         [](const auto& one) { return one.param.name; });

TEST(CheckedMessages, SizesOfBytesMayDiffer) {
  const Communicator comm = checked();
  const std::array<double, 2> out{1.5, 2.5};
  std::array<double, 2> in{};
  Request receive = irecv(comm, Buffer(in.data(), 16, Datatype::bytes(1)), left_of(comm));
  isend(comm, ConstBuffer(out.data(), 2, Datatype::bytes(8)), right_of(comm)).wait();
  EXPECT_EQ(outcome_of([&] { receive.wait(); }).code, ErrorCode::success);
  EXPECT_EQ(in, out);
}

// Each message has a datatype of its own, and they are waited for from the last to the first.
TEST(CheckedMessages, MayBeWaitedForInAnyOrder) {
  const Communicator comm = checked();
  int whole = 0;
  float real = 0;
  double wide = 0;
  std::vector<Request> receives;
  receives.push_back(irecv(comm, Buffer(&whole, 1), left_of(comm), 3));
  receives.push_back(irecv(comm, Buffer(&real, 1), left_of(comm), 3));
  receives.push_back(irecv(comm, Buffer(&wide, 1), left_of(comm), 3));
  const int sent = 11;
  const float sent_real = 12;
  const double sent_wide = 13;
  std::vector<Request> sends;
  sends.push_back(isend(comm, ConstBuffer(&sent, 1), right_of(comm), 3));
  sends.push_back(isend(comm, ConstBuffer(&sent_real, 1), right_of(comm), 3));
  sends.push_back(isend(comm, ConstBuffer(&sent_wide, 1), right_of(comm), 3));
  for (std::size_t i = 3; i-- > 0;) {
    const Outcome outcome = outcome_of([&] { receives[i].wait(); });
    EXPECT_EQ(outcome.code, ErrorCode::success) << outcome.text;
  }
  wait_all(sends);
  EXPECT_EQ(whole, 11);
  EXPECT_EQ(real, 12.0F);
  EXPECT_EQ(wide, 13.0);
}

TEST(CheckedMessages, OfSeveralTagsAndSourcesAreToldApart) {
  const Communicator comm = checked();
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<int> whole(size);
  std::vector<float> real(size);
  const std::vector<int> own(1, comm.rank());
  const std::vector<float> own_real(1, static_cast<float>(comm.rank()) + 0.5F);
  Group group(comm);
  for (int r = 0; r < comm.size(); ++r) {
    const auto place = static_cast<std::size_t>(r);
    group.recv(Buffer(&real[place], 1), r, 2).recv(Buffer(&whole[place], 1), r, 1);
    group.send(ConstBuffer(own.data(), 1), r, 1).send(ConstBuffer(own_real.data(), 1), r, 2);
  }
  const Outcome outcome = outcome_of([&] { group.run(); });
  EXPECT_EQ(outcome.code, ErrorCode::success) << outcome.text;
  EXPECT_EQ(whole.back(), comm.size() - 1);
  EXPECT_EQ(real.back(), static_cast<float>(comm.size()) - 0.5F);
}

// Of two receives with wildcards that are waited for in the other order, either may have taken a message.
TEST(CheckedMessages, AreNotComparedOnceTheOrderIsLeftOpen) {
  const Communicator comm = checked();
  std::array<int, 2> in{};
  float real = 0;
  Request first = irecv(comm, Buffer(&in[0], 1), any_source, any_tag);
  Request second = irecv(comm, Buffer(&in[1], 1), any_source, any_tag);
  const int out = 4;
  const float out_real = 5;
  send(comm, ConstBuffer(&out, 1), right_of(comm), 1);
  send(comm, ConstBuffer(&out, 1), right_of(comm), 1);
  EXPECT_EQ(outcome_of([&] { second.wait(); }).code, ErrorCode::success);
  EXPECT_EQ(outcome_of([&] { first.wait(); }).code, ErrorCode::success);
  EXPECT_EQ(in[0] + in[1], 8);
  sendrecv(comm, ConstBuffer(&out_real, 1), right_of(comm), 1, Buffer(&real, 1), left_of(comm), 1);
  EXPECT_EQ(real, 5.0F);
}

TEST(CheckedMessages, ThatAreTooLongHaveTheirOwnError) {
  const Communicator comm = checked();
  const std::array<float, 4> out{};
  std::array<float, 2> in{};
  Request sent = isend(comm, out, right_of(comm), 7);
  const Outcome outcome = outcome_of([&] { recv(comm, in, left_of(comm), 7); });
  sent.wait();
  EXPECT_EQ(outcome.code, ErrorCode::truncated) << outcome.text;
}

TEST(CheckedMessages, ToNobodyAreNotCompared) {
  const Communicator comm = checked();
  const float out = 1;
  int in = 2;
  const Outcome outcome =
      outcome_of([&] { sendrecv(comm, ConstBuffer(&out, 1), proc_null, 0, Buffer(&in, 1), proc_null, 0); });
  EXPECT_EQ(outcome.code, ErrorCode::success) << outcome.text;
  EXPECT_EQ(in, 2);
}

TEST(CheckedMessages, OfAPartAreComparedToo) {
  const Communicator comm = checked();
  const Communicator alone = comm.split(comm.rank());
  const float out = 1;
  int in = 0;
  Request receive = irecv(alone, Buffer(&in, 1), 0);
  isend(alone, ConstBuffer(&out, 1), 0).wait();
  const Outcome outcome = outcome_of([&] { receive.wait(); });
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
}

}  // namespace
}  // namespace tutti::test
