// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls through the ranks' rings: every operation by every protocol that does so, at lengths about those of a
// chunk and of a ring.
#include <set>
#include <thread>

#include "backends/shm/chunks.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;
using namespace std::chrono_literals;

constexpr std::size_t unit = sizeof(Work::Element);

constexpr std::array streamed_operations = {
    Operation::bcast,     Operation::gather, Operation::scatter,        Operation::allgather,
    Operation::alltoall,  Operation::reduce, Operation::reduce_scatter, Operation::reduce_scatter_block,
    Operation::allreduce, Operation::scan,   Operation::exscan};

/// A protocol with its ring.
struct Way {
  const char* name;
  RingKind ring;
};
constexpr std::array ways = {Way{"stream", RingKind::near}, Way{"wide", RingKind::wide},
                             Way{"uncached", RingKind::near}};

Options by(const char* protocol) { return {.algorithm = std::string("shm:") + protocol}; }

template <typename Body>
void for_each_group(const Body& body) {
  for (const Communicator& comm : communicators())
    if (comm.size() > 1) body(comm);
}

/// Nothing, less than a line, and about a chunk, all that a call takes of a near ring, and several times that: the
/// elements of a block.
std::set<std::size_t> counts(Operation operation, int size) {
  const std::size_t near = most_of_ring(RingKind::near, operation, size);
  std::set<std::size_t> all{0, 1, 15, 17};
  for (const std::size_t bytes : {near / 4, near / 2, near, 2 * near, 3 * near + near / 2}) {
    const std::size_t chunk = chunk_of(operation, bytes, near);
    for (const std::size_t exact : {bytes, bytes / chunk * chunk, (bytes / chunk + 1) * chunk})
      for (const std::size_t count : {exact / unit, exact / unit + 1, std::max<std::size_t>(exact / unit, 1) - 1})
        all.insert(count);
  }
  return all;
}

class Stream : public ::testing::TestWithParam<std::tuple<Operation, Way>> {
 protected:
  Operation operation_ = std::get<0>(GetParam());
  Way way_ = std::get<1>(GetParam());
};

TEST_P(Stream, EveryRootAndLength) {
  for_each_group([this](const Communicator& comm) {
    int turn = 0;
    int row = static_cast<int>(way_.ring);
    for (const std::size_t count : counts(operation_, comm.size())) {
      // With more ranks than most machines have cores, lengths and roots take turns.
      if (!takes_all() && row++ % (2 * comm.size()) != 0) continue;
      const bool has_root = tutti::has_root(operation_);
      const int roots = has_root && takes_all() ? comm.size() : 1;
      for (int i = 0; i < roots; ++i) {
        Work work(comm, operation_, count, has_root ? ++turn % comm.size() : 0);
        work.fill(turn);
        work.run(by(way_.name));
        work.verify(way_.name);
      }
    }
  });
}

/// Places in a ring are taken again and again: a rank that is ahead, or behind, meets none of the calls before or
/// after.
TEST_P(Stream, CallsFollowOneAnother) {
  for_each_group([this](const Communicator& comm) {
    const std::size_t whole = ring_bytes(way_.ring) / unit / static_cast<std::size_t>(comm.size());
    for (int i = 0; i < 12; ++i) {
      const int root = i / 5 % comm.size();
      // The last ones take more than the whole ring.
      const std::size_t part = i < 10 ? whole / (i < 5 ? 2 : 5) : whole * static_cast<std::size_t>(comm.size());
      Work work(comm, operation_, part + static_cast<std::size_t>(i), root);
      work.fill(i);
      if (i % 4 == 3 && comm.rank() == i / 4 % comm.size()) std::this_thread::sleep_for(3ms);
      work.run(by(way_.name));
      work.verify("call after call");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shm, Stream,
                         ::testing::Combine(::testing::ValuesIn(streamed_operations), ::testing::ValuesIn(ways)),
                         [](const auto& test) {
                           return std::string(operation_name(std::get<0>(test.param))) + "_" +
                                  std::get<1>(test.param).name;
                         });

/// Calls by all rings, `parts`, which uses the near one, and others, which use none; a nonblocking call is under way
/// meanwhile.
class Between : public ::testing::TestWithParam<Operation> {};

TEST_P(Between, CallsByAllRings) {
  for_each_group([](const Communicator& comm) {
    const std::size_t count = stream_bytes / unit + 3;
    for (int i = 0; i < 6; ++i) {
      Work pending(comm, Operation::allreduce, 100);
      pending.fill(i);
      Request request = pending.start({.algorithm = "shm:slots"});
      Work sums(comm, Operation::allreduce, count);
      sums.fill(i);
      if (i % 2 == 0) sums.run({.algorithm = "shm:parts"});
      for (const char* protocol : {"stream", "slots", "wide", "uncached", "stream"}) {
        Work work(comm, GetParam(), i % 3 == 2 ? 500 : count, i % comm.size());
        work.fill(i);
        work.run(by(protocol));
        work.verify(protocol);
      }
      if (i % 2 != 0) sums.run({.algorithm = "shm:parts"});
      sums.verify("between");
      request.wait();
      pending.verify("begun before");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shm, Between, ::testing::ValuesIn(streamed_operations),
                         [](const auto& test) { return std::string(operation_name(test.param)); });

/// Blocks are overwritten while others still come from them.
TEST(StreamInPlace, AlltoallAndAllgatherKeepTheirBlocks) {
  for (const Way& way : ways)
    for_each_group([&way](const Communicator& comm) {
      const auto size = static_cast<std::size_t>(comm.size());
      const auto rank = static_cast<std::size_t>(comm.rank());
      const std::size_t block = stream_bytes / sizeof(int) + 11;
      const auto value = [&](std::size_t from, std::size_t to, std::size_t i) {
        return static_cast<int>(from * 1'000'003 + to * 10'007 + i);
      };
      std::vector<int> data(block * size);
      for (std::size_t to = 0; to < size; ++to)
        for (std::size_t i = 0; i < block; ++i) data[to * block + i] = value(rank, to, i);
      alltoall(comm, in_place, data, by(way.name));
      std::size_t wrong = 0;
      for (std::size_t from = 0; from < size; ++from)
        for (std::size_t i = 0; i < block; ++i) wrong += data[from * block + i] != value(from, rank, i) ? 1 : 0;
      EXPECT_EQ(wrong, 0U) << "alltoall";
      std::fill(data.begin(), data.end(), -1);
      for (std::size_t i = 0; i < block; ++i) data[rank * block + i] = value(rank, 0, i);
      allgather(comm, in_place, data, by(way.name));
      for (std::size_t from = 0; from < size; ++from)
        for (std::size_t i = 0; i < block; ++i) wrong += data[from * block + i] != value(from, 0, i) ? 1 : 0;
      EXPECT_EQ(wrong, 0U) << "allgather";
    });
}

TEST(StreamFailure, ATakerThatDoesNotComeIsNamedInTime) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  std::vector<unsigned char> data(5 * stream_bytes);
  if (comm.rank() == 0) {
    Options options = by("stream");
    options.timeout = 200ms;
    ErrorCode code = ErrorCode::success;
    std::string text;
    try {
      bcast(comm, data, 0, options);
    } catch (const Error& e) {
      code = e.code();
      text = e.what();
    }
    EXPECT_EQ(code, ErrorCode::timeout) << text;
    EXPECT_NE(text.find("shm:stream"), std::string::npos) << text;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; std::this_thread::yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

TEST(StreamRules, WhatMustGoOnAloneIsRefused) {
  const Communicator& comm = communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::success;
  };
  std::vector<float> data(3);
  for (const char* protocol : {"stream", "wide", "uncached"})
    EXPECT_EQ(code_of([&] { ibcast(comm, data, 0, by(protocol)).wait(); }), ErrorCode::invalid_algorithm) << protocol;
}

}  // namespace
}  // namespace tutti::test
