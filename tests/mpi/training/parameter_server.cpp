// SPDX-License-Identifier: BSD-3-Clause
// Rows that every rank reads and updates at any time: exact sums, whole rows, fences, errors, on every path.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "core/config.hpp"
#include "training/parameter_server/one_sided.hpp"

namespace tutti {
namespace {

Communicator world() { return Communicator::duplicate(MPI_COMM_WORLD); }

/// Which path is asked for.
class Server : public ::testing::TestWithParam<bool> {
 protected:
  ParameterServer make(std::int64_t rows, std::size_t dim, ServerOptimizer optimizer = ServerOptimizer::sgd,
                       float epsilon = 1e-10F) const {
    ParameterServerOptions options;
    options.direct = GetParam();
    options.optimizer = optimizer;
    options.epsilon = epsilon;
    return {comm, rows, dim, options};
  }
  const Communicator comm = world();
  const int rank = comm.rank();
  const int size = comm.size();
  /// Rounds of calls that meet: with more than two ranks more of them meet in each.
  const int rounds = size > 2 ? 21 : 60;
};

INSTANTIATE_TEST_SUITE_P(, Server, ::testing::Bool(), [](const auto& which) { return which.param ? "direct" : "mpi"; });

std::vector<std::int64_t> all_rows(const ParameterServer& server) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(server.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

template <typename Call>
ErrorCode code_of(const Call& call, const std::string& text) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    return e.code();
  }
  return ErrorCode::success;
}

TEST_P(Server, HoldsBlocksOfRowsThatAreZero) {
  ParameterServer server = make(10, 3);
  EXPECT_EQ(server.rows(), 10);
  EXPECT_EQ(server.dim(), 3U);
  const std::int64_t block = (10 + size - 1) / size;
  EXPECT_EQ(server.first_row(), std::min<std::int64_t>(10, rank * block));
  const std::int64_t end = std::min<std::int64_t>(10, (rank + 1) * block);
  EXPECT_EQ(server.local().size(), static_cast<std::size_t>(end - server.first_row()) * 3);
  std::vector<float> values(30, 1.0F);
  server.pull(all_rows(server), values);
  EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == 0.0F; }));
  const bool on_one_node = size == 1 || (comm.topology().nodes == 1 && detail::config().shared_memory);
  EXPECT_EQ(server.path(), GetParam() && on_one_node ? "direct" : "mpi");
}

TEST_P(Server, GivesWhatRanksFilledInInAnyOrderAndAsOftenAsAsked) {
  ParameterServer server = make(41, 7);
  const auto local = server.local();
  for (std::size_t i = 0; i < local.size(); ++i)
    local[i] = static_cast<float>(server.first_row() * 7 + static_cast<std::int64_t>(i));
  server.fence();
  std::vector<std::int64_t> rows = all_rows(server);
  rows.insert(rows.end(), {40, 0, 0, 17, 40});
  std::shuffle(rows.begin(), rows.end(), std::minstd_rand(static_cast<unsigned>(rank) + 1));
  std::vector<float> values(rows.size() * 7);
  server.pull(rows, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(rows[i / 7] * 7 + static_cast<std::int64_t>(i % 7))) << i;
}

TEST_P(Server, SumsConcurrentPushesOfAllRanksExactly) {
  constexpr std::int64_t count = 37;
  constexpr std::size_t dim = 5;
  ParameterServer server = make(count, dim);
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  std::vector<float> expected(count * dim);
  for (int p = 0; p < rounds; ++p) {
    // Rows 0 to 3 are everybody's; a row may come several times.
    std::vector<std::int64_t> rows{0, 1, 2, 3, 1};
    for (int k = 0; k < 20; ++k) rows.push_back(static_cast<std::int64_t>(random() % count));
    std::vector<float> gradients(rows.size() * dim);
    for (float& g : gradients) g = static_cast<float>(static_cast<int>(random() % 16) - 8);
    server.push(rows, gradients, 0.5F);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      expected[static_cast<std::size_t>(rows[i / dim]) * dim + i % dim] -= 0.5F * gradients[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, expected.data(), static_cast<int>(expected.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  server.fence();
  std::vector<float> values(expected.size());
  server.pull(all_rows(server), values);
  EXPECT_EQ(values, expected);
  const auto local = server.local();
  EXPECT_TRUE(std::equal(local.begin(), local.end(), expected.begin() + server.first_row() * static_cast<int>(dim)));
}

TEST_P(Server, NeverShowsATornRow) {
  constexpr std::size_t dim = 257;
  ParameterServer server = make(2, dim);
  const std::vector<std::int64_t> rows{1, 0};
  std::vector<float> values(2 * dim);
  float last[2] = {0, 0};
  const int pulls = 5 * rounds;
  for (int i = 0; i < pulls; ++i) {
    if ((i + rank) % 3 == 0) {
      const std::vector<float> ones(2 * dim, -1.0F);
      server.push(rows, ones, 1.0F);
    }
    server.pull(rows, values);
    for (std::size_t r = 0; r < 2; ++r) {
      const auto row = std::span(values).subspan(r * dim, dim);
      ASSERT_TRUE(std::ranges::all_of(row, [&](float v) { return v == row[0]; })) << "a torn row in pull " << i;
      ASSERT_GE(row[0], last[r]) << "older than before in pull " << i;
      last[r] = row[0];
    }
  }
  server.fence();
  server.pull(rows, values);
  EXPECT_EQ(values[0], static_cast<float>(pulls / 3 * size));
  EXPECT_EQ(values.back(), values[0]);
}

TEST_P(Server, HasAppliedAPushWhenItReturns) {
  ParameterServer server = make(static_cast<std::int64_t>(4 * size), 8);
  const std::vector<std::int64_t> mine{rank, rank + size, rank + 2 * size, rank + 3 * size};
  std::vector<float> values(32);
  for (int i = 1; i <= 20; ++i) {
    server.push(mine, std::vector<float>(32, -1.0F), 1.0F);
    server.pull(mine, values);
    ASSERT_TRUE(std::ranges::all_of(values, [&](float v) { return v == static_cast<float>(i); })) << i;
  }
  server.fence();
}

TEST_P(Server, OrdersByFences) {
  ParameterServer server = make(1, 3);
  std::vector<float> values(3);
  const std::vector<std::int64_t> row{0};
  for (int turn = 0; turn < 12; ++turn) {
    if (turn % size == rank) server.push(row, std::vector<float>(3, -1.0F), 1.0F);
    server.fence();
    server.pull(row, values);
    ASSERT_EQ(values, std::vector<float>(3, static_cast<float>(turn + 1)));
    server.fence();
  }
}

TEST_P(Server, UpdatesByRowWiseAdagrad) {
  constexpr std::size_t dim = 4;
  ParameterServer server = make(3, dim, ServerOptimizer::row_wise_adagrad);
  // Turn by turn, so that the order is known; row 2 comes twice and counts as one gradient.
  float state = 0;
  std::vector<float> expected(dim);
  for (int turn = 0; turn < 2 * size; ++turn) {
    const auto a = static_cast<float>(turn + 1);
    std::vector<float> gradients{a, 2, 3, 4, 1, 1, a, 1};
    if (turn % size == rank) server.push(std::vector<std::int64_t>{2, 2}, gradients, 0.1F);
    server.fence();
    double squares = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      gradients[d] += gradients[d + dim];
      squares += static_cast<double>(gradients[d] * gradients[d]);
    }
    state += static_cast<float>(squares / dim);
    for (std::size_t d = 0; d < dim; ++d) expected[d] -= 0.1F * gradients[d] / (std::sqrt(state) + 1e-10F);
  }
  std::vector<float> values(dim);
  server.pull(std::vector<std::int64_t>{2}, values);
  for (std::size_t d = 0; d < dim; ++d) EXPECT_FLOAT_EQ(values[d], expected[d]);
  server.pull(std::vector<std::int64_t>{1}, values);
  EXPECT_EQ(values, std::vector<float>(dim));
}

TEST_P(Server, AddsEpsilonToTheRoot) {
  ParameterServer server = make(2, 2, ServerOptimizer::row_wise_adagrad, 0.5F);
  if (rank == size - 1) server.push(std::vector<std::int64_t>{1}, std::vector<float>{2, 2}, 1.0F);
  server.fence();
  std::vector<float> values(2);
  server.pull(std::vector<std::int64_t>{1}, values);
  for (const float v : values) EXPECT_FLOAT_EQ(v, -2.0F / (2.0F + 0.5F));
}

TEST_P(Server, KeepsTheStateOfConcurrentAdagradPushes) {
  // Equal gradients: the k-th push moves a row by -1 / sqrt(k), whoever makes it.
  ParameterServer server = make(5, 2, ServerOptimizer::row_wise_adagrad);
  const std::vector<std::int64_t> rows{4, 0, 2};
  for (int i = 0; i < rounds; ++i) server.push(rows, std::vector<float>(6, 1.0F), 1.0F);
  server.fence();
  float expected = 0;
  for (int k = 1; k <= rounds * size; ++k) expected -= 1.0F / (std::sqrt(static_cast<float>(k)) + 1e-10F);
  std::vector<float> values(6);
  server.pull(rows, values);
  for (const float v : values) EXPECT_FLOAT_EQ(v, expected);
}

TEST_P(Server, TakesNoRowsAndManyRows) {
  constexpr std::int64_t count = 70'000;
  constexpr std::size_t dim = 33;
  ParameterServer server = make(count, dim);
  server.push({}, {}, 1.0F);
  server.pull({}, {});
  const std::vector<std::int64_t> rows = all_rows(server);
  const std::vector<float> gradients(rows.size() * dim, -1.0F);
  if (rank == size - 1) server.push(rows, gradients, 1.0F);
  server.fence();
  std::vector<float> values(rows.size() * dim);
  if (rank == 0) {
    server.pull(rows, values);
    EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == 1.0F; }));
  }
  server.fence();
  ParameterServer empty = make(0, 1);
  EXPECT_EQ(empty.local().size(), 0U);
}

TEST_P(Server, NamesWrongRequestsBeforeItTouchesARow) {
  ParameterServer server = make(6, 2);
  std::vector<float> values(4, 9.0F);
  const std::vector<std::int64_t> past{0, 6};
  const std::vector<std::int64_t> negative{0, -1};
  EXPECT_EQ(code_of([&] { server.pull(past, values); }, "has 6 at position 1; pass rows from 0 to 5"),
            ErrorCode::index_out_of_range);
  EXPECT_EQ(values, std::vector<float>(4, 9.0F));
  EXPECT_EQ(code_of([&] { server.push(negative, values, 1.0F); }, "has -1 at position 1"),
            ErrorCode::index_out_of_range);
  EXPECT_EQ(code_of([&] { server.pull(std::vector<std::int64_t>{0}, values); }, "argument out has 4 values"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { server.push(std::vector<std::int64_t>{0}, values, 1.0F); }, "argument gradients"),
            ErrorCode::invalid_argument);
  server.fence();
  server.pull(std::vector<std::int64_t>{0, 5}, values);
  EXPECT_EQ(values, std::vector<float>(4));
}

TEST_P(Server, ErrorsOfTheConstructorAreTheSameOnAllRanks) {
  const bool is_last = rank == size - 1;
  EXPECT_EQ(code_of([&] { make(-1, 2); }, "argument rows is -1"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { make(1, 0); }, "argument dim is 0"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { make(std::int64_t{1} << 60, 8); }, "more than memory"), ErrorCode::invalid_argument);
  if (size > 1) {
    EXPECT_EQ(code_of([&] { make(is_last ? 5 : 4, 2); }, "argument rows differs"), ErrorCode::mismatch);
    EXPECT_EQ(code_of([&] { make(4, is_last ? 3 : 2); }, "argument dim differs"), ErrorCode::mismatch);
    EXPECT_EQ(code_of([&] { make(4, 2, is_last ? ServerOptimizer::row_wise_adagrad : ServerOptimizer::sgd); },
                      "option optimizer differs"),
              ErrorCode::mismatch);
  }
  EXPECT_EQ(code_of([&] { ParameterServer(Communicator(), 1, 1); }, "argument comm"), ErrorCode::invalid_communicator);
}

TEST_P(Server, MovesAndEndsAfterItsCommunicator) {
  std::optional<Communicator> other = comm.split(0, rank);
  ParameterServerOptions options;
  options.direct = GetParam();
  ParameterServer a(*other, 4, 2, options);
  ParameterServer b = std::move(a);
  EXPECT_EQ(code_of([&] { a.fence(); }, "moved from"), ErrorCode::invalid_argument);  // NOLINT(bugprone-use-after-move)
  other.reset();
  b.push(std::vector<std::int64_t>{3}, std::vector<float>{-1, -2}, 1.0F);
  b.fence();
  b.progress();
  std::vector<float> values(2);
  b.pull(std::vector<std::int64_t>{3}, values);
  EXPECT_EQ(values[1], 2.0F * static_cast<float>(size));
  b.fence();
  b = make(1, 1);
  EXPECT_EQ(b.rows(), 1);
}

TEST(OneSidedRows, SendsOneMessageATripToEachRankThatHasRows) {
  const Communicator comm = world();
  namespace server = detail::server;
  server::OneSidedRows rows(comm, server::RowShape(1000, 4, comm.size()));
  const std::vector<std::int64_t> all{1, 2, 3, 5, 8, 997, 998, 999};
  std::vector<float> values(all.size() * 4, 1.0F);
  const auto targets = comm.size() > 1 ? 2U : 1U;
  if (comm.rank() == 0) {
    rows.pull(all, values);
    EXPECT_EQ(rows.window().trips(), 3U);
    EXPECT_EQ(rows.window().messages(), 3U * targets);
    rows.push(server::RowGradients(all, values, 4), {}, 1.0F);
    EXPECT_EQ(rows.window().trips(), 6U);
    EXPECT_EQ(rows.window().messages(), 6U * targets);
  }
  rows.fence();
}

}  // namespace
}  // namespace tutti
