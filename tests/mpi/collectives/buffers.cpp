// SPDX-License-Identifier: BSD-3-Clause
// Send and receive buffers that meet in memory: allowed where nothing moves or where no element is shared, else refused
// on the rank that passes them, before anything is sent.
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <map>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

using ::testing::HasSubstr;
using Counts = std::vector<std::size_t>;

/// The blocking call of an operation: rank r sends from `send` and receives at `recv`, n elements a block.
using Run = std::function<void(const Communicator&, int* send, int* recv, std::size_t n)>;

std::size_t ranks_of(const Communicator& comm) { return static_cast<std::size_t>(comm.size()); }

/// Blocks of n elements, one behind the other.
Counts displs(const Communicator& comm, std::size_t n) {
  Counts all(ranks_of(comm));
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = r * n;
  return all;
}
Counts counts(const Communicator& comm, std::size_t n) { return Counts(ranks_of(comm), n); }

const std::map<std::string, Run>& operations_with_two_buffers() {
  static const std::map<std::string, Run> all{
      {"allreduce", [](auto& c, int* s, int* r, auto n) { allreduce(c, ConstBuffer(s, n), Buffer(r, n), sum); }},
      {"reduce", [](auto& c, int* s, int* r, auto n) { reduce(c, ConstBuffer(s, n), Buffer(r, n), sum, 0); }},
      {"scan", [](auto& c, int* s, int* r, auto n) { scan(c, ConstBuffer(s, n), Buffer(r, n), sum); }},
      {"exscan", [](auto& c, int* s, int* r, auto n) { exscan(c, ConstBuffer(s, n), Buffer(r, n), sum); }},
      {"reduce_scatter_block",
       [](auto& c, int* s, int* r, auto n) {
         reduce_scatter_block(c, ConstBuffer(s, n * ranks_of(c)), Buffer(r, n), sum);
       }},
      {"reduce_scatter",
       [](auto& c, int* s, int* r, auto n) {
         reduce_scatter(c, ConstBuffer(s, n * ranks_of(c)), Buffer(r, n), counts(c, n), sum);
       }},
      {"allgather",
       [](auto& c, int* s, int* r, auto n) { allgather(c, ConstBuffer(s, n), Buffer(r, n * ranks_of(c))); }},
      {"allgatherv",
       [](auto& c, int* s, int* r, auto n) {
         allgatherv(c, ConstBuffer(s, n), Buffer(r, n * ranks_of(c)), counts(c, n), displs(c, n));
       }},
      {"gather", [](auto& c, int* s, int* r, auto n) { gather(c, ConstBuffer(s, n), Buffer(r, n * ranks_of(c)), 0); }},
      {"gatherv",
       [](auto& c, int* s, int* r, auto n) {
         gatherv(c, ConstBuffer(s, n), Buffer(r, n * ranks_of(c)), counts(c, n), displs(c, n), 0);
       }},
      {"scatter",
       [](auto& c, int* s, int* r, auto n) { scatter(c, ConstBuffer(s, n * ranks_of(c)), Buffer(r, n), 0); }},
      {"scatterv",
       [](auto& c, int* s, int* r, auto n) {
         scatterv(c, ConstBuffer(s, n * ranks_of(c)), counts(c, n), displs(c, n), Buffer(r, n), 0);
       }},
      {"alltoall", [](auto& c, int* s, int* r,
                      auto n) { alltoall(c, ConstBuffer(s, n * ranks_of(c)), Buffer(r, n * ranks_of(c))); }},
      {"alltoallv", [](auto& c, int* s, int* r, auto n) {
         alltoallv(c, ConstBuffer(s, n * ranks_of(c)), counts(c, n), displs(c, n), Buffer(r, n * ranks_of(c)),
                   counts(c, n), displs(c, n));
       }}};
  return all;
}

TEST(Buffers, EmptyOnesMayShareAnAddress) {
  const Communicator& comm = communicators().front();
  int shared = 0;
  for (const auto& [name, run] : operations_with_two_buffers()) EXPECT_NO_THROW(run(comm, &shared, &shared, 0)) << name;
}

/// The address of an empty array is often that of the next one; the other ranks do exchange.
TEST(Buffers, ARankWithNothingToExchangePassesOneAddress) {
  const Communicator& comm = communicators().front();
  const std::size_t ranks = ranks_of(comm);
  const auto rank = static_cast<std::size_t>(comm.rank());
  Counts sizes(ranks, 1);
  sizes[0] = 0;
  if (rank == 0) sizes = Counts(ranks, 0);
  std::vector<int> send(ranks, static_cast<int>(rank));
  std::vector<int> recv(ranks, -1);
  alltoallv(comm, send, sizes, displs(comm, 1), rank == 0 ? Buffer(send) : Buffer(recv), sizes, displs(comm, 1));
  for (std::size_t r = 0; rank > 0 && r < ranks; ++r) EXPECT_EQ(recv[r], r == 0 ? -1 : static_cast<int>(r));
}

TEST(Buffers, ElementsThatAreSentAndReceivedAreRefused) {
  const Communicator& comm = communicators().front();
  if (comm.size() > 1) {
    // The root alone has two buffers in some operations: refused there, before anything is sent.
    const auto alone = comm.split(comm.rank(), 0);
    std::vector<int> x(8);
    for (const auto& [name, run] : operations_with_two_buffers())
      for (const auto& [send, recv] : {std::pair{0, 1}, {2, 0}, {0, 3}}) {
        try {
          run(alone, x.data() + send, x.data() + recv, 4);
          ADD_FAILURE() << name << " takes overlapping buffers";
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
          EXPECT_THAT(e.what(), HasSubstr("argument recv overlaps argument send")) << name;
          EXPECT_THAT(e.what(), HasSubstr(send < recv ? std::to_string(4 * recv) + " bytes behind" : "8 bytes before"));
        }
      }
  }
}

TEST(Buffers, NeighboursAreNotRefused) {
  const Communicator& comm = communicators().front();
  const std::size_t n = 3 * ranks_of(comm);
  std::vector<int> x(2 * n);
  for (const auto& [name, run] : operations_with_two_buffers()) {
    EXPECT_NO_THROW(run(comm, x.data(), x.data() + n, 3)) << name;
    EXPECT_NO_THROW(run(comm, x.data() + n, x.data(), 3)) << name;
  }
}

/// Blocks to send and blocks to receive by turns in one array.
TEST(Buffers, BlocksMayInterleave) {
  const Communicator& comm = communicators().front();
  const std::size_t ranks = ranks_of(comm);
  std::vector<int> x(4 * ranks, -1);
  Counts out(ranks);
  Counts in(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    out[r] = 4 * r;
    in[r] = 4 * r + 2;
    x[out[r]] = comm.rank() * 10 + static_cast<int>(r);
    x[out[r] + 1] = 7;
  }
  alltoallv(comm, x, counts(comm, 2), out, x, counts(comm, 2), in);
  for (std::size_t r = 0; r < ranks; ++r) {
    EXPECT_EQ(x[in[r]], static_cast<int>(r) * 10 + comm.rank());
    EXPECT_EQ(x[in[r] + 1], 7);
  }
  in.back() -= 1;
  EXPECT_THROW(alltoallv(comm, x, counts(comm, 2), out, x, counts(comm, 2), in), Error);
}

/// A block that is passed at its own place is in place.
TEST(Buffers, OwnBlockIsInPlace) {
  const Communicator& comm = communicators().front();
  const std::size_t ranks = ranks_of(comm);
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (const char* algorithm : {"", "native"}) {
    Options options;
    options.algorithm = algorithm;
    std::vector<int> all(ranks, -1);
    all[rank] = comm.rank() + 5;
    allgather(comm, ConstBuffer(&all[rank], 1), all, options);
    for (std::size_t r = 0; r < ranks; ++r) EXPECT_EQ(all[r], static_cast<int>(r) + 5);
    std::vector<int> gathered(ranks, -1);
    gathered[rank] = comm.rank() + 6;
    gather(comm, ConstBuffer(&gathered[rank], 1), gathered, 0, options);
    for (std::size_t r = 0; rank == 0 && r < ranks; ++r) EXPECT_EQ(gathered[r], static_cast<int>(r) + 6);
    std::vector<int> parts(ranks);
    for (std::size_t r = 0; r < ranks; ++r) parts[r] = static_cast<int>(r) + 7;
    if (rank > 0) parts[rank] = -1;
    scatter(comm, parts, Buffer(&parts[rank], 1), 0, options);
    EXPECT_EQ(parts[rank], comm.rank() + 7);
  }
}

}  // namespace
}  // namespace tutti::test
