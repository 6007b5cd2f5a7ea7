// SPDX-License-Identifier: BSD-3-Clause
// Wrong uses, one a row: each ends within 10 seconds, on every rank, with a text that names the argument, the rank and
// a remedy, and leaves the communicator usable if ranks did not disagree. The folders c and fortran have the same.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned limit = 10;  // seconds

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
  std::string argument;               ///< in the text
  std::vector<std::string> remedies;  ///< the text has one of them, which says what to do
  std::function<void(Fixture&)> use;
  bool breaks = false;  ///< the communicator is of no more use afterwards
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
      {"CountsOfSendAndRecvDiffer",
       invalid_argument,
       "send",
       {"pass 5"},
       [](Fixture& f) { allreduce(f.comm, f.a, f.b, sum); }},
      {"TypesOfSendAndRecvDiffer",
       invalid_datatype,
       "recv",
       {"pass buffers of the same datatype"},
       [](Fixture& f) { allreduce(f.comm, f.a, f.d, sum); }},
      {"SendIsRecv",
       invalid_argument,
       "recv",
       {"pass in_place as send"},
       [](Fixture& f) { allreduce(f.comm, f.a, f.a, sum); }},
      {"SendAndRecvShareElements",
       invalid_argument,
       "recv",
       {"pass buffers that share no element"},
       [](Fixture& f) {
         std::vector<float> x(10);
         allreduce(f.comm, std::span(x).first(8), std::span(x).last(8), sum);
       }},
      {"BitsOfFloats",
       invalid_op,
       "op",
       {"choose another operation"},
       [](Fixture& f) { allreduce(f.comm, f.a, band); }},
      {"LocationOfNumbers",
       invalid_op,
       "op",
       {"choose another operation"},
       [](Fixture& f) { allreduce(f.comm, f.i, minloc); }},
      {"AverageOfAScan",
       invalid_op,
       "op",
       {"choose another operation"},
       [](Fixture& f) { scan(f.comm, f.a, std::span(f.b).first(4), avg); }},
      {"ScaledSumOfIntegers",
       invalid_op,
       "op",
       {"choose another operation"},
       [](Fixture& f) { allreduce(f.comm, f.i, ReduceOp::premul_sum(2)); }},
      {"UserOperationWithoutFunction",
       invalid_argument,
       "op",
       {"make one by ReduceOp::user"},
       [](Fixture& f) { allreduce(f.comm, f.a, ReduceOp::user(nullptr)); }},
      {"DatatypeThatIsNone",
       invalid_datatype,
       "datatype",
       {"use a DatatypeKind"},
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), 4, static_cast<DatatypeKind>(77)), 0); }},
      {"DatatypeOfNoBytes",
       invalid_datatype,
       "datatype",
       {"use a DatatypeKind"},
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), 4, Datatype::bytes(0)), 0); }},
      {"RootBehindTheLastRank",
       invalid_argument,
       "root",
       {"pass a rank from 0 to"},
       [](Fixture& f) { bcast(f.comm, f.a, f.comm.size()); }},
      {"NegativeRoot",
       invalid_argument,
       "root",
       {"pass a rank from 0 to"},
       [](Fixture& f) { reduce(f.comm, f.a, std::span(f.b).first(4), sum, -1); }},
      {"NullPointerWithElements",
       invalid_argument,
       "buffer",
       {"pass the buffer's address"},
       [](Fixture& f) { bcast(f.comm, Buffer(nullptr, 4, DatatypeKind::float32), 0); }},
      {"NegativeCount",
       invalid_argument,
       "buffer",
       {"pass the count in elements"},
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), static_cast<std::size_t>(-4), DatatypeKind::float32), 0); }},
      {"CountInBytesOfAHugeArray",
       invalid_argument,
       "buffer",
       {"pass the count in elements"},
       [](Fixture& f) { bcast(f.comm, Buffer(f.a.data(), std::size_t{1} << 61U, DatatypeKind::float32), 0); }},
      {"MisspeltAlgorithm",
       invalid_algorithm,
       "rnig",
       {"choose one of"},
       [](Fixture& f) { allreduce(f.comm, f.a, sum, named("rnig")); }},
      {"MisspeltBackend",
       invalid_algorithm,
       "mip",
       {"choose one of"},
       [](Fixture& f) { allreduce(f.comm, f.a, sum, named("mip:ring")); }},
      {"AlgorithmThatIsNotReproducible",
       invalid_algorithm,
       "ring",
       {"choose one of"},
       [](Fixture& f) {
         Options options = named("ring");
         options.reproducible = true;
         allreduce(f.comm, f.a, sum, options);
       }},
      {"NegativeTimeout",
       invalid_argument,
       "timeout",
       {"pass 0 for no timeout"},
       [](Fixture& f) {
         Options options;
         options.timeout = -1s;
         allreduce(f.comm, f.a, sum, options);
       }},
      {"CountsForTooManyRanks",
       invalid_argument,
       "recv_counts",
       {"pass 2", "pass 3"},
       [](Fixture& f) {
         std::vector<float> all(4 * f.ranks);
         allgatherv(f.comm, f.a, all, std::vector<std::size_t>(f.ranks + 1, 4), std::vector<std::size_t>(f.ranks));
       }},
      {"BlockBehindTheEnd",
       invalid_argument,
       "recv",
       {"correct its count or displacement"},
       [](Fixture& f) {
         std::vector<float> all(4 * f.ranks);
         allgatherv(f.comm, f.a, all, std::vector<std::size_t>(f.ranks, 4),
                    std::vector<std::size_t>(f.ranks, 4 * f.ranks));
       }},
      {"CountsThatDoNotAddUp",
       invalid_argument,
       "send",
       {"pass 8", "pass 12"},
       [](Fixture& f) { reduce_scatter(f.comm, f.b, f.a, std::vector<std::size_t>(f.ranks, 4), sum); }},
      {"GatheringIntoTooLittle",
       invalid_argument,
       "recv",
       {"pass 8", "pass 12"},
       [](Fixture& f) { allgather(f.comm, f.a, f.b); }},
      {"BlocksInPlaceThatDoNotDivide",
       invalid_argument,
       "argument recv",
       {"pass one block per rank"},
       [](Fixture& f) { allgather(f.comm, in_place, f.b); }},
      {"DestBehindTheLastRank",
       invalid_argument,
       "dest",
       {"pass a rank from 0 to"},
       [](Fixture& f) { send(f.comm, f.a, f.comm.size() + 7, 0); }},
      {"NegativeTag",
       invalid_argument,
       "tag",
       {"pass a number from 0 to"},
       [](Fixture& f) { send(f.comm, f.a, 0, -7); }},
      {"TagThatMpiHasNot",
       invalid_argument,
       "tag",
       {"pass a number from 0 to"},
       [](Fixture& f) { send(f.comm, f.a, 0, std::numeric_limits<int>::max()); }},
      {"NegativeColor",
       invalid_argument,
       "color",
       {"pass a non-negative number"},
       [](Fixture& f) { (void)f.comm.split(-4); }},
      {"MemoryOfNoKind",
       invalid_argument,
       "kind",
       {"pass host, pinned, device"},
       [](Fixture& f) { (void)allocate(f.comm, 64, MemoryKind::detect); }},
      {"MoreMemoryThanThereIs",
       invalid_argument,
       "bytes",
       {"pass at most"},
       [](Fixture& f) { (void)allocate(f.comm, std::numeric_limits<std::size_t>::max() - 5); }},
      {"NullCommunicator",
       invalid_communicator,
       "comm",
       {"create one by duplicate"},
       [](Fixture& f) { allreduce(Communicator(), f.a, sum); }},
      {"CommunicatorOfNoHandle",
       invalid_communicator,
       "comm",
       {"pass a communicator that"},
       [](Fixture&) { (void)Communicator::duplicate(MPI_COMM_NULL); },
       false},
      {"StartOfACallThatIsNotPersistent",
       invalid_request,
       "request",
       {"start only requests of an _init call"},
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
       }},
      {"OptionsThatDiffer",
       mismatch,
       "timeout",
       {"make it equal on all ranks"},
       [](Fixture& f) {
         CommunicatorOptions options;
         options.timeout = std::chrono::seconds(60 + f.comm.rank());
         (void)Communicator::duplicate(MPI_COMM_WORLD, options);
       }},
  };
  return table;
}

/// Calls by shared memory of which the last rank makes another one. The calls after them see it if they do not.
template <typename Usual, typename Other>
auto disagree(const Usual& usual, const Other& other) {
  return [=](Fixture& f) {
    if (f.comm.rank() + 1 < f.comm.size())
      usual(f);
    else
      other(f);
    for (int i = 0; i < 3; ++i) barrier(f.comm);
  };
}

std::vector<Misuse> all_disagreements() {
  const std::vector<std::string> remedies{"let all ranks make the same calls in the same order"};
  const Options shared = named("shm");
  const auto usual = [=](Fixture& f) { allreduce(f.comm, f.a, sum, shared); };
  const auto rooted = [=](int root) { return [=](Fixture& f) { bcast(f.comm, f.a, root, shared); }; };
  const auto row = [&](const char* name, const char* word, const auto& one, const auto& other) {
    return Misuse{name, ErrorCode::mismatch, word, remedies, disagree(one, other), true};
  };
  return {
      row("OperationsDiffer", "bcast(", usual, rooted(0)),
      row("TypesDiffer", "(int32, count", usual, [=](Fixture& f) { allreduce(f.comm, f.i, sum, shared); }),
      row("WidthsDiffer", "(float64, count", usual, [=](Fixture& f) { allreduce(f.comm, f.d, sum, shared); }),
      row("OpsDiffer", ", max)", usual, [=](Fixture& f) { allreduce(f.comm, f.a, max, shared); }),
      row("RootsDiffer", "root 1", rooted(0), rooted(1)),
      row("CountsDiffer", "(float32, count 5", usual, [=](Fixture& f) { allreduce(f.comm, f.b, sum, shared); }),
      row("FormsDiffer", "iallreduce(", usual, [=](Fixture& f) { iallreduce(f.comm, f.a, sum, shared).wait(); }),
  };
}

/// Whether a sentence of the text begins with a remedy, and that with a verb.
bool has_remedy(const std::string& text, const std::vector<std::string>& remedies) {
  static const std::vector<std::string> verbs{"choose", "correct", "create", "let", "make",
                                              "pass",   "start",   "use",    "wait"};
  return std::ranges::any_of(remedies, [&](const std::string& remedy) {
    const std::size_t at = text.find(remedy);
    return std::ranges::count(verbs, remedy.substr(0, remedy.find(' '))) == 1 && at != std::string::npos && at >= 2 &&
           std::string(";,").find(text[at - 2]) != std::string::npos;
  });
}

/// "rank 1 " or "rank 1:", but not "rank 12"; or both of two ranks that differ.
bool names_rank(const std::string& text, int rank) {
  const std::string words = "rank " + std::to_string(rank);
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    if (std::isdigit(static_cast<unsigned char>(text.c_str()[at + words.size()])) == 0) return true;
  return text.find("ranks 0 and ") != std::string::npos;
}

class Misuses : public ::testing::TestWithParam<Misuse> {
 protected:
  void SetUp() override { alarm(limit); }  // a hang ends the program
  void TearDown() override { alarm(0); }
};

TEST_P(Misuses, EndWithATextThatHelps) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Fixture fixture{comm, static_cast<std::size_t>(comm.size())};
  const Misuse& misuse = GetParam();
  try {
    misuse.use(fixture);
    ADD_FAILURE() << "was taken";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), misuse.code) << text;
    EXPECT_NE(text.find(misuse.argument), std::string::npos) << text;
    EXPECT_TRUE(names_rank(text, comm.rank())) << text;
    EXPECT_TRUE(has_remedy(text, misuse.remedies)) << text;
  }
  if (misuse.breaks) return;
  std::vector<float> x(3, 1.0F);
  allreduce(comm, x, sum);
  EXPECT_EQ(x[2], static_cast<float>(comm.size())) << "the communicator is not what it was";
}

std::string name_of(const ::testing::TestParamInfo<Misuse>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(Each, Misuses, ::testing::ValuesIn(all_misuses()), name_of);
INSTANTIATE_TEST_SUITE_P(Disagreement, Misuses, ::testing::ValuesIn(all_disagreements()), name_of);

}  // namespace
}  // namespace tutti::test
