// SPDX-License-Identifier: BSD-3-Clause
// Wrong uses, one a row: each ends within 10 seconds, on every rank, with a text that names the argument, the rank and
// a remedy, and leaves the communicator usable. C and Fortran have the same in tests/c/errors.c and tests/fortran.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  const Communicator& comm;
  std::size_t ranks;
  std::vector<float> a = std::vector<float>(4, 1.0F);
  std::vector<float> b = std::vector<float>(5, 1.0F);
  std::vector<double> d = std::vector<double>(4, 1.0);
  std::vector<int> i = std::vector<int>(4, 1);
};

struct Misuse {
  std::string name;
  ErrorCode code;
  std::string argument;  ///< in the text
  std::function<void(Fixture&)> use;
  bool names_rank = true;  ///< false: there is no communicator yet
};

std::ostream& operator<<(std::ostream& to, const Misuse& misuse) { return to << misuse.name; }

Options named(const char* algorithm) {
  Options options;
  options.algorithm = algorithm;
  return options;
}

const std::vector<Misuse>& all_misuses() {
  using enum ErrorCode;
  static const std::vector<Misuse> table{
      {"CountsOfSendAndRecvDiffer", invalid_argument, "send", [](Fixture& f) { allreduce(f.comm, f.a, f.b, sum); }},
      {"TypesOfSendAndRecvDiffer", invalid_datatype, "recv", [](Fixture& f) { allreduce(f.comm, f.a, f.d, sum); }},
      {"SendIsRecv", invalid_argument, "recv", [](Fixture& f) { allreduce(f.comm, f.a, f.a, sum); }},
      {"SendAndRecvShareElements", invalid_argument, "recv",
       [](Fixture& f) {
         std::vector<float> x(10);
         allreduce(f.comm, std::span(x).first(8), std::span(x).last(8), sum);
       }},
      {"BitsOfFloats", invalid_op, "op", [](Fixture& f) { allreduce(f.comm, f.a, band); }},
      {"LocationOfNumbers", invalid_op, "op", [](Fixture& f) { allreduce(f.comm, f.i, minloc); }},
      {"AverageOfAScan", invalid_op, "op", [](Fixture& f) { scan(f.comm, f.a, std::span(f.b).first(4), avg); }},
      {"ScaledSumOfIntegers", invalid_op, "op", [](Fixture& f) { allreduce(f.comm, f.i, ReduceOp::premul_sum(2)); }},
      {"UserOperationWithoutFunction", invalid_argument, "op",
       [](Fixture& f) { allreduce(f.comm, f.a, ReduceOp::user(nullptr)); }},
      {"DatatypeThatIsNone", invalid_datatype, "datatype",
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), 4, static_cast<DatatypeKind>(77)), 0); }},
      {"DatatypeOfNoBytes", invalid_datatype, "datatype",
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), 4, Datatype::bytes(0)), 0); }},
      {"RootBehindTheLastRank", invalid_argument, "root", [](Fixture& f) { bcast(f.comm, f.a, f.comm.size()); }},
      {"NegativeRoot", invalid_argument, "root",
       [](Fixture& f) { reduce(f.comm, f.a, std::span(f.b).first(4), sum, -1); }},
      {"NullPointerWithElements", invalid_argument, "buffer",
       [](Fixture& f) { bcast(f.comm, Buffer(nullptr, 4, DatatypeKind::float32), 0); }},
      {"NegativeCount", invalid_argument, "buffer",
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), static_cast<std::size_t>(-4), DatatypeKind::float32), 0); }},
      {"CountInBytesOfAHugeArray", invalid_argument, "buffer",
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), std::size_t{1} << 61U, DatatypeKind::float32), 0); }},
      {"MisspeltAlgorithm", invalid_algorithm, "rnig", [](Fixture& f) { allreduce(f.comm, f.a, sum, named("rnig")); }},
      {"MisspeltBackend", invalid_algorithm, "mip", [](Fixture& f) { allreduce(f.comm, f.a, sum, named("mip:ring")); }},
      {"AlgorithmThatIsNotReproducible", invalid_algorithm, "ring",
       [](Fixture& f) {
         Options options = named("ring");
         options.reproducible = true;
         allreduce(f.comm, f.a, sum, options);
       }},
      {"NegativeTimeout", invalid_argument, "timeout",
       [](Fixture& f) {
         Options options;
         options.timeout = -1s;
         allreduce(f.comm, f.a, sum, options);
       }},
      {"CountsForTooManyRanks", invalid_argument, "recv_counts",
       [](Fixture& f) {
         std::vector<float> all(4 * f.ranks);
         allgatherv(f.comm, f.a, all, std::vector<std::size_t>(f.ranks + 1, 4), std::vector<std::size_t>(f.ranks));
       }},
      {"BlockBehindTheEnd", invalid_argument, "recv",
       [](Fixture& f) {
         std::vector<float> all(4 * f.ranks);
         allgatherv(f.comm, f.a, all, std::vector<std::size_t>(f.ranks, 4),
                    std::vector<std::size_t>(f.ranks, 4 * f.ranks));
       }},
      {"CountsThatDoNotAddUp", invalid_argument, "send",
       [](Fixture& f) { reduce_scatter(f.comm, f.b, f.a, std::vector<std::size_t>(f.ranks, 4), sum); }},
      {"GatheringIntoTooLittle", invalid_argument, "recv", [](Fixture& f) { allgather(f.comm, f.a, f.b); }},
      {"DestBehindTheLastRank", invalid_argument, "dest", [](Fixture& f) { send(f.comm, f.a, f.comm.size() + 7, 0); }},
      {"NegativeTag", invalid_argument, "tag", [](Fixture& f) { send(f.comm, f.a, 0, -7); }},
      {"TagThatMpiHasNot", invalid_argument, "tag",
       [](Fixture& f) { send(f.comm, f.a, 0, std::numeric_limits<int>::max()); }},
      {"NegativeColor", invalid_argument, "color", [](Fixture& f) { (void)f.comm.split(-4); }},
      {"MemoryOfNoKind", invalid_argument, "kind", [](Fixture& f) { (void)allocate(f.comm, 64, MemoryKind::detect); }},
      {"MoreMemoryThanThereIs", invalid_argument, "bytes",
       [](Fixture& f) { (void)allocate(f.comm, std::numeric_limits<std::size_t>::max() - 5); }},
      {"NullCommunicator", invalid_communicator, "comm", [](Fixture& f) { allreduce(Communicator(), f.a, sum); },
       false},
      {"CommunicatorOfNoHandle", invalid_communicator, "comm",
       [](Fixture&) { (void)Communicator::duplicate(MPI_COMM_NULL); }, false},
      {"StartOfACallThatIsNotPersistent", invalid_request, "request",
       [](Fixture& f) {
         std::vector<float> x(2);
         Request request = iallreduce(f.comm, x, sum);
         try {
           request.start();
         } catch (...) {
           request.wait();
           throw;
         }
         request.wait();
       },
       false},
      {"OptionsThatDiffer", mismatch, "timeout",
       [](Fixture& f) {
         CommunicatorOptions options;
         options.timeout = std::chrono::seconds(60 + f.comm.rank());
         (void)Communicator::duplicate(MPI_COMM_WORLD, options);
       }},
  };
  return table;
}

class Misuses : public ::testing::TestWithParam<Misuse> {};

TEST_P(Misuses, EndWithATextThatHelps) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Fixture fixture{comm, static_cast<std::size_t>(comm.size())};
  const auto begin = std::chrono::steady_clock::now();
  try {
    GetParam().use(fixture);
    ADD_FAILURE() << "was taken";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), GetParam().code) << text;
    EXPECT_NE(text.find(GetParam().argument), std::string::npos) << text;
    if (GetParam().names_rank) {
      EXPECT_NE(text.find("rank"), std::string::npos) << text;
    }
    EXPECT_TRUE(text.find(';') != std::string::npos || text.find(':') != std::string::npos) << "no remedy: " << text;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  std::vector<float> x(3, 1.0F);
  allreduce(comm, x, sum);
  EXPECT_EQ(x[2], static_cast<float>(comm.size())) << "the communicator is not what it was";
}

INSTANTIATE_TEST_SUITE_P(Each, Misuses, ::testing::ValuesIn(all_misuses()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tutti::test
