// SPDX-License-Identifier: BSD-3-Clause
// What tutti-commbench computes: bandwidth factors, statistics, overlap, shapes, names.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "names.hpp"
#include "options.hpp"
#include "shape.hpp"
#include "statistics.hpp"
#include "suite.hpp"
#include "support/option_ranges.hpp"

namespace {

using namespace tutti::commbench;

// The table of nccl-tests, doc/PERFORMANCE.md.
TEST(Bandwidth, HasTheFactorsOfNcclTests) {
  for (const int n : {1, 2, 3, 8, 100}) {
    const double others = (n - 1.0) / n;
    EXPECT_DOUBLE_EQ(bus_factor(Operation::allreduce, n), 2 * others);
    for (const auto op : {Operation::allgather, Operation::reduce_scatter_block, Operation::reduce_scatter,
                          Operation::alltoall, Operation::gather, Operation::scatter, Operation::alltoallv})
      EXPECT_DOUBLE_EQ(bus_factor(op, n), others) << static_cast<int>(op);
    EXPECT_DOUBLE_EQ(bus_factor(Operation::bcast, n), 1);
    EXPECT_DOUBLE_EQ(bus_factor(Operation::reduce, n), 1);
    EXPECT_DOUBLE_EQ(bus_factor(Operation::barrier, n), 0);
  }
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(2'000'000'000, 0.5), 4);
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(5, 0), 0);
}

TEST(Statistics, AreNearestRankPercentiles) {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1.0);
  const auto s = statistics_of(values);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.p50, 100);
  EXPECT_EQ(s.p95, 190);
  EXPECT_EQ(s.p99, 198);
  EXPECT_EQ(s.max, 200);
  EXPECT_EQ(statistics_of({3, 1, 2}).p50, 2);
  EXPECT_EQ(statistics_of({7}).p99, 7);
  EXPECT_EQ(statistics_of({}).p50, 0);
}

TEST(Overlap, IsThatOfOsu) {
  EXPECT_DOUBLE_EQ(overlap_percent(10, 10, 10), 100);  // all hidden
  EXPECT_DOUBLE_EQ(overlap_percent(10, 10, 20), 0);    // one after the other
  EXPECT_DOUBLE_EQ(overlap_percent(10, 12, 15), 70);
  EXPECT_DOUBLE_EQ(overlap_percent(10, 10, 25), 0);
  EXPECT_DOUBLE_EQ(overlap_percent(10, 10, 8), 100);
  EXPECT_DOUBLE_EQ(overlap_percent(0, 10, 8), 0);
}

// The time of a product grows with the third power of its size: eight times the time is twice the size.
TEST(Beside, SizesFollowTheTime) {
  EXPECT_EQ(next_size(100, 1e-3, 8e-3, 3, 1000), 200U);
  EXPECT_EQ(next_size(100, 1e-3, 8e-3, 1, 1000), 800U);
  EXPECT_EQ(next_size(100, 1e-3, 8e-3, 1, 500), 500U);
  EXPECT_EQ(next_size(100, 1e-3, 1, 1, 1U << 20U), 6400U) << "at most 64 times at once";
  EXPECT_EQ(next_size(1, 1e-3, 1e-6, 1, 1000), 1U);
}

TEST(Beside, PartsMakeTheWhole) {
  for (const Beside beside : {Beside::copy, Beside::gemm, Beside::embedding}) {
    if (!why_no_computation(beside).empty()) continue;
    const auto computation = make_computation(beside);
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{40000}}) {
      if (size > 1000 && beside == Beside::gemm) continue;
      computation->resize(size);
      for (int part = 0; part < 9; ++part) EXPECT_NO_THROW(computation->run(part, 9)) << beside_name(beside) << size;
    }
  }
}

// What all ranks send is what all ranks receive, and every part lies inside the buffer of its source.
TEST(Shapes, FitTogether) {
  for (const auto operation : all_operations)
    for (const int ranks : {1, 2, 3, 5, 8})
      for (const Splits& splits : {Splits{}, Splits{Splits::Kind::uneven}, Splits{Splits::Kind::random},
                                   Splits{Splits::Kind::zipf}, Splits{Splits::Kind::one}}) {
        const int root = ranks / 2;
        std::vector<Shape> shapes;
        for (int r = 0; r < ranks; ++r) shapes.push_back(make_shape(operation, 1000, {r, ranks, root}, splits));
        for (int r = 0; r < ranks; ++r) {
          const Shape& shape = shapes[static_cast<std::size_t>(r)];
          EXPECT_EQ(shape.total, shapes.front().total);
          EXPECT_EQ(shape.largest, shapes.front().largest);
          EXPECT_GE(shape.largest, std::max(shape.send, shape.recv));
          std::size_t covered = 0;
          for (const ResultSlice& slice : shape.result) {
            covered += slice.length;
            EXPECT_LE(slice.at + slice.length, shape.recv);
            for (int s = slice.first; s <= slice.last; ++s) {
              const Shape& source = shapes[static_cast<std::size_t>(s)];
              EXPECT_LE(slice.offset + slice.length, operation == Operation::bcast ? source.recv : source.send);
            }
          }
          const bool gets_nothing = operation == Operation::exscan && r == 0;
          EXPECT_EQ(covered, gets_nothing ? 0 : shape.recv) << static_cast<int>(operation) << " rank " << r;
        }
      }
}

TEST(Shapes, DifferWhereAsked) {
  const Shape even = make_shape(Operation::allgatherv, 40, {0, 4, 0}, {});
  const Shape uneven = make_shape(Operation::allgatherv, 40, {0, 4, 0}, {Splits::Kind::uneven});
  EXPECT_EQ(even.recv_counts, (std::vector<std::size_t>{10, 10, 10, 10}));
  EXPECT_EQ(uneven.recv_counts, (std::vector<std::size_t>{5, 15, 5, 15}));
  EXPECT_EQ(uneven.recv_displs, (std::vector<std::size_t>{0, 5, 20, 25}));
}

// Every message of a rank is received by the other with the same tag and length, from the place where it was sent.
TEST(Traffic, FitsTogether) {
  for (const Traffic traffic : all_traffic)
    for (const int ranks : {2, 3, 4, 5}) {
      std::vector<Shape> shapes;
      for (int r = 0; r < ranks; ++r) shapes.push_back(make_traffic_shape(traffic, 7, {r, ranks, ranks / 2}));
      std::size_t sent = 0;
      std::size_t received = 0;
      std::size_t most = 0;
      for (int r = 0; r < ranks; ++r) {
        const Shape& shape = shapes[static_cast<std::size_t>(r)];
        std::size_t result = 0;
        for (const MessageSlice& one : shape.messages) {
          EXPECT_EQ(one.length, 7U);
          ++(one.is_recv ? received : sent);
          if (!one.is_recv) continue;
          const ResultSlice& slice = shape.result[result++];
          const auto& theirs = shapes[static_cast<std::size_t>(one.peer)].messages;
          const auto found = std::count_if(theirs.begin(), theirs.end(), [&](const MessageSlice& other) {
            return !other.is_recv && other.peer == r && other.tag == one.tag && other.at == slice.offset;
          });
          EXPECT_EQ(found, 1) << traffic_name(traffic) << ", rank " << r << " of " << ranks;
          EXPECT_EQ(slice.at, one.at);
          EXPECT_EQ(slice.first, one.peer);
        }
        EXPECT_EQ(result, shape.result.size());
        most = std::max({most, result, shape.messages.size() - result});
        EXPECT_LE(std::max(shape.send, shape.recv), shape.largest);
      }
      EXPECT_EQ(sent, received) << traffic_name(traffic);
      EXPECT_GT(sent, 0U);
      EXPECT_DOUBLE_EQ(bus_factor(traffic, ranks), static_cast<double>(most)) << traffic_name(traffic);
    }
}

TEST(Traffic, PairsTheHalves) {
  const auto peer = [](int rank, int ranks) {
    const Shape shape = make_traffic_shape(Traffic::pairwise, 1, {rank, ranks, 0});
    return shape.messages.empty() ? -1 : shape.messages.front().peer;
  };
  EXPECT_EQ(peer(0, 4), 2);
  EXPECT_EQ(peer(3, 4), 1);
  EXPECT_EQ(peer(1, 5), 3);
  EXPECT_EQ(peer(4, 5), -1) << "the last of an odd number is idle";
}

TEST(Splits, DivideAllElements) {
  using Kind = Splits::Kind;
  EXPECT_EQ(divide({Kind::listed, 1, {3, 1, 0, 4}}, 80, 4, 2, 0), (Counts{30, 10, 0, 40}));
  EXPECT_EQ(divide({Kind::listed, 1, {1, 1, 1}}, 10, 3, 0, 0), (Counts{3, 3, 4}));
  EXPECT_EQ(divide({Kind::one}, 10, 3, 1, 2), (Counts{10, 0, 0})) << "all to the rank behind the root";
  EXPECT_EQ(divide({Kind::even}, 10, 3, 1, 2), (Counts{3, 3, 3}));
  const Counts zipf = divide({Kind::zipf}, 11'000'000, 4, 1, 0);
  EXPECT_NEAR(static_cast<double>(zipf[0]) / static_cast<double>(zipf[3]), 4, 0.01);
  const std::size_t large = (std::size_t{1} << 40U) + 3;
  for (const Kind kind : {Kind::random, Kind::zipf, Kind::one}) {
    EXPECT_EQ(sum_of(divide({kind}, large, 5, 1, 0)), large);
    EXPECT_EQ(divide({kind}, large, 5, 1, 0), divide({kind}, large, 5, 1, 0));
  }
  EXPECT_NE(divide({Kind::random, 1}, 1000, 5, 1, 0), divide({Kind::random, 2}, 1000, 5, 1, 0));
  EXPECT_NE(divide({Kind::random, 1}, 1000, 5, 1, 0), divide({Kind::random, 1}, 1000, 5, 2, 0));
}

TEST(Splits, AreReadAsTheyAreWritten) {
  for (const char* text : {"even", "uneven", "random:7", "zipf", "one", "3,1,0"})
    EXPECT_EQ(splits_text(parse_splits(text)), text);
  EXPECT_EQ(parse_splits("random").seed, 1U);
  for (const char* text : {"", "odd", "3,,1", "0,0", "1,x", "random:x", "random:", "65536", "-1"}) {
    try {
      (void)parse_splits(text);
      ADD_FAILURE() << "'" << text << "' is accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).size(), 0U);
    }
  }
}

TEST(Names, AreThoseOfTheLibraryAndErrorsSayWhatToDo) {
  EXPECT_EQ(parse_operations({"all"}).size(), all_operations.size());
  EXPECT_TRUE(parse_traffic({"all"}).empty()) << "all are all collectives";
  EXPECT_EQ(parse_traffic({"incast", "bcast", "incast"}), std::vector<Traffic>{Traffic::incast});
  EXPECT_EQ(parse_operations({"incast", "bcast"}), std::vector<Operation>{Operation::bcast});
  EXPECT_TRUE(parse_operations({"incast"}).empty());
  EXPECT_EQ(parse_types({"float32", "bytes(12)", "float32"}).size(), 2U);
  EXPECT_EQ(parse_types({"bytes(12)"}).front().size(), 12U);
  EXPECT_EQ(parse_ops({"max"}).front(), tutti::ReduceKind::max);
  for (const char* name : {"float31", "bytes(0)", "bytes(x)", "bytes()", ""}) {
    try {
      (void)parse_types({name});
      FAIL() << name;
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("--types"), std::string::npos) << text;
      EXPECT_NE(text.find("float32"), std::string::npos) << text;
    }
  }
  EXPECT_THROW((void)parse_modes({}), std::invalid_argument);
}

tutti::commbench::Request parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tutti-commbench");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CommandLine, IsRead) {
  const auto request = parse({"-o", "bcast,reduce", "--low", "1KB", "--high", "2MB", "--ops", "max,sum", "--modes",
                              "all", "-a", "auto,mpi:ring", "--check", "all", "--buffers", "cold", "--no-overlap"});
  ASSERT_EQ(request.task, Task::measure) << request.text;
  EXPECT_EQ(request.settings.operations, (std::vector<Operation>{Operation::bcast, Operation::reduce}));
  EXPECT_EQ(request.settings.low, 1024U);
  EXPECT_EQ(request.settings.high, 2U << 20U);
  EXPECT_EQ(request.settings.modes.size(), 3U);
  EXPECT_EQ(request.settings.check, Check::all);
  EXPECT_EQ(request.settings.reuse, Reuse::cold);
  EXPECT_FALSE(request.settings.overlap);
  const auto more = parse({"-o", "sendrecv,alltoallv", "--splits", "3,1", "--in-place", "--communicators", "4",
                           "--modes", "nonblocking,persistent"});
  ASSERT_EQ(more.task, Task::measure) << more.text;
  EXPECT_EQ(more.settings.traffic, std::vector<Traffic>{Traffic::sendrecv});
  EXPECT_EQ(more.settings.splits.parts, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_TRUE(more.settings.in_place);
  EXPECT_EQ(more.settings.communicators, 4);
  EXPECT_EQ(request.settings.beside, Beside::nothing);
  const auto beside = parse({"--beside", "copy", "--beside-size", "12"});
  EXPECT_EQ(beside.settings.beside, Beside::copy);
  EXPECT_EQ(beside.settings.beside_size, 12U);
  EXPECT_EQ(beside.settings.modes, std::vector<Mode>{Mode::nonblocking}) << "the usual one beside a computation";
  EXPECT_EQ(parse({}).settings.modes, std::vector<Mode>{Mode::blocking});
  EXPECT_EQ(parse({"--list"}).task, Task::list);
  EXPECT_EQ(parse({"plot", "a.json", "-o", "a.svg"}).task, Task::plot);
}

tutti::command_line::Outcome outcome_of(const std::vector<std::string>& arguments) {
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  return parse(words);
}

TEST(CommandLine, NoOptionTakesAValueOutsideItsRange) { tutti::command_line::testing::expect_ranges(outcome_of, 25); }
TEST(CommandLine, HelpNamesAllOptions) { tutti::command_line::testing::expect_help(outcome_of); }

TEST(CommandLine, NamesWhatIsWrong) {
  const auto expect = [](const std::vector<const char*>& arguments, const char* argument) {
    const auto request = parse(arguments);
    EXPECT_EQ(request.task, Task::stop) << argument;
    EXPECT_EQ(request.exit_code, 1);
    EXPECT_NE(request.text.find(argument), std::string::npos) << request.text;
  };
  expect({"--operations", "allreduc"}, "--operations");
  expect({"--operations", "incst"}, "incast");
  expect({"--splits", "odd"}, "--splits: 'odd'");
  expect({"--communicators", "2", "--modes", "all"}, "--communicators 2");
  expect({"--beside", "copy", "--modes", "blocking"}, "--beside copy");
  expect({"--beside", "gemm", "--beside-size", "16385"}, "--beside-size 16385");
  expect({"--low", "many"}, "--low");
  expect({"--high", "2"}, "--high");
  expect({"--factor", "1"}, "--factor");
  expect({"--low", "-4"}, "--low: '-4' is not a size in bytes in [1, 1T]");
  expect({"--rounds", "0"}, "--rounds");
  expect({"--budget", "-1"}, "--budget");
  expect({"--check", "some"}, "--check");
  expect({"--memory", "tape"}, "--memory");
  expect({"--min-iterations", "9", "--max-iterations", "8"}, "--max-iterations");
  expect({"--unknown"}, "--unknown");
  expect({"plot", "a.json"}, "--output");
  EXPECT_EQ(parse({"--help"}).exit_code, 0);
}

TEST(Points, AreThoseThatAreDefined) {
  Settings settings;
  settings.operations = {Operation::barrier, Operation::allreduce, Operation::allgather, Operation::scan};
  settings.types = parse_types({"float32", "int32_int32"});
  settings.ops = parse_ops({"sum", "minloc", "avg"});
  settings.memory = {MemorySpace::host};
  settings.modes = {Mode::blocking};
  settings.low = settings.high = 64;
  // barrier 1; allreduce: float32 sum and avg, pair minloc; allgather 2 types; scan: float32 sum, pair minloc.
  EXPECT_EQ(points_of(settings, 4).size(), 1U + 3U + 2U + 2U);
  EXPECT_EQ(points_of(settings, 100).size(), 1U + 3U + 0U + 2U);  // a block would be less than an element
  settings.high = 1024;
  settings.operations = {Operation::bcast};
  EXPECT_EQ(points_of(settings, 4).size(), 6U);
  settings.operations = {};
  settings.traffic = {Traffic::incast, Traffic::sendrecv};
  EXPECT_EQ(points_of(settings, 4).size(), 12U);
  EXPECT_TRUE(points_of(settings, 1).empty()) << "messages need two ranks";
}

}  // namespace
