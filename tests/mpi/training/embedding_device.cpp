// SPDX-License-Identifier: BSD-3-Clause
// Tables on the device: every sharding, pooling, optimizer, layout and type of rows against the reference, on the
// stand-ins of CUDA and NCCL.
#include <array>
#include <cstdio>
#include <map>

#include "embedding_on_device.hpp"

namespace tutti::test {
namespace {

using kernels::Pooling;
using kernels::RowOptimizer;

constexpr Sharding shardings[] = {Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise,
                                  Sharding::column_wise};

class EmbeddingDevice : public EmbeddingOnDevice {
 protected:
  /// With more than two ranks, each sharding has one of the poolings, the other one for even and odd `turn`.
  template <typename Body>
  void for_each_way(int turn, const Body& body) const {
    for (const Sharding sharding : shardings) {
      for (const Pooling pooling : {Pooling::sum, Pooling::mean}) {
        if (comm().size() > 2 && (static_cast<int>(sharding) + static_cast<int>(pooling) + turn) % 2 == 1) continue;
        const auto layout = pooling == Pooling::sum ? InputLayout::local : InputLayout::global;
        Setting made = setting(sharding, pooling, layout);
        body(made);
        Exercise(comm(), made).run(std::string(sharding_name(sharding)) + " on the device");
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_F(EmbeddingDevice, EveryOptimizerAgreesWithTheReference) {
  for (const auto optimizer :
       {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad, RowOptimizer::adam}) {
    for_each_way(static_cast<int>(optimizer), [&](Setting& made) { made.optimizer = optimizer; });
  }
}

/// Their state is that of whole rows, whose squares all shards add.
TEST_F(EmbeddingDevice, RowWiseStateOfDividedColumns) {
  for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
    for (const auto index_type : {kernels::IndexType::int64, kernels::IndexType::int32}) {
      Setting made = setting(Sharding::column_wise, pooling, InputLayout::global);
      made.optimizer = RowOptimizer::row_wise_adagrad;
      made.index_type = index_type;
      made.weighted = pooling == Pooling::sum;
      // Rows that a block changes, and rows of one index each.
      made.tables.push_back({"often", 2, 9, DatatypeKind::float32, pooling, 100, Sharding::column_wise});
      Exercise(comm(), made).run("divided columns");
    }
  }
}

TEST_F(EmbeddingDevice, FactorsAndShortIndices) {
  for_each_way(0, [](Setting& made) { made.weighted = true; });
  for_each_way(1, [](Setting& made) { made.index_type = kernels::IndexType::int32; });
}

TEST_F(EmbeddingDevice, MaximaOfBags) {
  for (const Sharding sharding : {Sharding::table_wise, Sharding::column_wise, Sharding::data_parallel})
    for (const InputLayout layout : {InputLayout::global, InputLayout::local})
      Exercise(comm(), setting(sharding, Pooling::max, layout)).run(sharding_name(sharding));
}

TEST_F(EmbeddingDevice, RowsOf16And8Bits) {
  int turn = 0;
  for (const auto& [type, tolerance] : {std::pair(DatatypeKind::bfloat16, 4e-2), std::pair(DatatypeKind::float16, 6e-3),
                                        std::pair(DatatypeKind::uint8, 8e-2)}) {
    for_each_way(turn++, [kind = type, within = tolerance](Setting& made) {
      for (auto& table : made.tables) table.type = kind;
      made.tolerance = within;
    });
  }
}

TEST_F(EmbeddingDevice, VectorsThatTravelIn16Bits) {
  int turn = 0;
  for (const auto& [type, tolerance] :
       {std::pair(DatatypeKind::bfloat16, 4e-2), std::pair(DatatypeKind::float16, 6e-3)}) {
    for_each_way(turn++, [kind = type, within = tolerance](Setting& made) {
      made.exchange_type = kind;
      made.tolerance = within;
    });
  }
}

/// Values that NCCL sends in a step, by their type.
std::map<std::string, std::size_t> sent_in_a_step(const Communicator& comm, Setting made, DatatypeKind type) {
  made.exchange_type = type;
  made.tolerance = 4e-2;
  Exercise exercise(comm, made);
  exercise.step(1, "connects");
  machine().nccl.clear_record();
  exercise.step(1, "is counted");
  std::map<std::string, std::size_t> sent;
  for (const std::string& call : machine().nccl.record()) {
    std::size_t count = 0;
    std::array<char, 16> name{};
    if (std::sscanf(call.c_str(), "send(count=%zu, %15[a-z0-9]", &count, name.data()) == 2) sent[name.data()] += count;
  }
  return sent;
}

TEST_F(EmbeddingDevice, WhatTravelsIn16BitsIsHalfTheBytes) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank sends nothing";
  const Setting made = setting(Sharding::row_wise, Pooling::sum, InputLayout::global);
  const auto wide = sent_in_a_step(comm(), made, DatatypeKind::float32);
  const auto narrow = sent_in_a_step(comm(), made, DatatypeKind::bfloat16);
  ASSERT_EQ(wide.size(), 1U);
  ASSERT_EQ(narrow.size(), 1U);
  // What is only moved is sent as words of its size.
  EXPECT_EQ(wide.begin()->first, "uint32");
  EXPECT_EQ(narrow.begin()->first, "float16");
  EXPECT_EQ(narrow.begin()->second, wide.begin()->second);
}

TEST_F(EmbeddingDevice, WhatIsWrongIsToldBeforeAnythingIsComputed) {
  Exercise exercise(comm(), setting(Sharding::table_wise, Pooling::sum, InputLayout::global));
  EmbeddingInput input = exercise.input(1);
  input.error = "a broken file";
  exercise.collection.start_input(0, input);
  EXPECT_THROW(exercise.collection.finish_input(0), Error);
  exercise.step(1, "after a failure");
}

TEST_F(EmbeddingDevice, WhatIsNotThereIsRefused) {
  Setting without_stream = setting(Sharding::table_wise, Pooling::sum, InputLayout::global);
  without_stream.stream = {};
  EXPECT_THROW(Exercise(comm(), without_stream), Error);
}

/// Sends the vectors or gradients of a slot. The first rank goes on with other work of its stream before the others
/// have sent theirs, and the exchange ends before longer work does.
template <typename Send>
void expect_exchange_beside_work(const Communicator& comm, const Send& send) {
  standin::Runtime& runtime = machine().runtime;
  machine().drain();
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() > 0) MPI_Barrier(MPI_COMM_WORLD);
  send();
  if (comm.rank() == 0) {
    std::atomic<bool> has_worked{false};
    runtime.run_host(machine().stream, [&] { has_worked = true; });
    while (!has_worked) (void)runtime.run_some();
    EXPECT_GT(machine().nccl.in_flight(), 0) << "the peers have not sent";
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Gate longer(machine().stream);
  while (machine().nccl.in_flight() > 0) {
    (void)runtime.run_some();
    progress();
  }
  longer.open->store(true);
}

/// As the bottom MLP of a DLRM does: it hides their time.
TEST_F(EmbeddingDevice, ExchangesRunBesideOtherWorkOfTheStream) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  Exercise exercise(comm(), setting(Sharding::table_wise, Pooling::sum, InputLayout::global));
  auto& collection = exercise.collection;
  exercise.step(1, "connects");
  collection.start_input(0, exercise.input(2));
  collection.look_up(0);
  expect_exchange_beside_work(comm(), [&] { collection.send_vectors(0); });
  exercise.expect_vectors(collection.finish_forward(0), 2, "beside other work");
  expect_exchange_beside_work(comm(), [&] { collection.start_backward(0); });
  collection.receive_gradients(0);
  collection.update(0, static_cast<float>(rate));
}

/// Four steps on a table of eight columns, whose batches have one index a bag; the gradient is the vector. The third
/// and fourth step launch the graph of the second.
void train(const Communicator& comm, EmbeddingCollection& collection, bool by_graph) {
  const auto compute = [&] {
    collection.look_up(0);
    collection.send_vectors(0);
    const auto& vectors = collection.finish_forward(0);
    const auto& gradients = collection.gradients(0);
    const std::size_t samples = sample_slice(12, comm.rank(), comm.size()).size();
    machine().runtime.copy_rows(gradients[0].data, gradients[0].stride * sizeof(float), vectors[0].data,
                                vectors[0].stride * sizeof(float), 8 * sizeof(float), samples, machine().stream);
    collection.start_backward(0);
    collection.receive_gradients(0);
    collection.update(0, 0.5F);
  };
  std::vector<std::int64_t> offsets(13);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> indices(12);
  std::optional<int> graph;
  std::uint64_t key = 0;
  for (std::int64_t step = 0; step < 4; ++step) {
    for (std::int64_t i = 0; i < 12; ++i) indices[static_cast<std::size_t>(i)] = i + 7 * step;
    const kernels::TableLookups lookups{indices.data(), offsets.data(), nullptr};
    const bool needs = collection.needs(0);
    const kernels::TableLookups none{};
    collection.start_input(0, {.tables = std::span(needs ? &lookups : &none, 1), .batch = 12});
    collection.finish_input(0);
    if (step == 0) key = collection.graph_key(0);
    ASSERT_EQ(collection.graph_key(0), key);
    if (!by_graph || step == 0) {
      compute();
      continue;
    }
    if (step == 1) {
      machine().runtime.begin_capture(machine().stream);
      compute();
      graph = machine().runtime.end_capture(machine().stream);
    }
    machine().runtime.launch(*graph, machine().stream);
    if (step > 1) collection.note_graph_step(0);
  }
  machine().drain();
  EXPECT_EQ(collection.steps(), 4U);
  if (graph) machine().runtime.destroy_graph(*graph);
}

TEST_F(EmbeddingDevice, AGraphComputesOtherBatchesOfItsShape) {
  Setting made = setting(Sharding::row_wise, Pooling::sum, InputLayout::global);
  made.tables = {{"one index a bag", 40, 8, DatatypeKind::float32, Pooling::sum, 1, Sharding::table_wise}};
  made.batches = {12};
  Exercise exercise(comm(), made);
  auto& collection = exercise.collection;
  train(comm(), collection, true);
  for (std::size_t i = 0; i < collection.shards().size(); ++i) {
    std::vector<float> rows(40 * 8);
    collection.read_rows(i, 0, 40, rows);
    for (std::int64_t row = 0; row < 40; ++row) {
      // Row r is in the batches of the steps with 0 <= r - 7 step < 12; each halves it.
      int times = 0;
      for (std::int64_t step = 0; step < 4; ++step) times += row >= 7 * step && row < 7 * step + 12 ? 1 : 0;
      for (std::size_t c = 0; c < 8; ++c) {
        ASSERT_FLOAT_EQ(rows[static_cast<std::size_t>(row) * 8 + c], first_value(0, row, c) * std::ldexp(1.0F, -times))
            << "row " << row;
      }
    }
  }
}

/// What is rounded and widened is part of the graph.
TEST_F(EmbeddingDevice, AGraphExchanges16Bits) {
  Setting made = setting(Sharding::column_wise, Pooling::sum, InputLayout::global);
  made.tables = {{"one index a bag", 40, 8, DatatypeKind::float32, Pooling::sum, 1, Sharding::column_wise}};
  made.batches = {12};
  const auto trained = [&](bool by_graph, DatatypeKind type) {
    made.exchange_type = type;
    Exercise exercise(comm(), made);
    train(comm(), exercise.collection, by_graph);
    std::vector<float> rows(40 * exercise.collection.shards()[0].columns());
    exercise.collection.read_rows(0, 0, 40, rows);
    return rows;
  };
  const auto direct = trained(false, DatatypeKind::bfloat16);
  EXPECT_EQ(trained(true, DatatypeKind::bfloat16), direct);
  EXPECT_EQ(trained(true, DatatypeKind::float32) == direct, comm().size() == 1);
}

/// The squares of divided columns are exchanged in the graph too.
TEST_F(EmbeddingDevice, AGraphAddsTheSquaresOfItsBatches) {
  Setting made = setting(Sharding::column_wise, Pooling::sum, InputLayout::global);
  made.optimizer = RowOptimizer::row_wise_adagrad;
  made.tables = {{"one index a bag", 40, 8, DatatypeKind::float32, Pooling::sum, 1, Sharding::column_wise}};
  made.batches = {12};
  std::vector<float> rows[2];
  for (const bool by_graph : {false, true}) {
    Exercise exercise(comm(), made);
    train(comm(), exercise.collection, by_graph);
    for (std::size_t i = 0; i < exercise.collection.shards().size(); ++i) {
      std::vector<float>& found = rows[by_graph ? 1 : 0];
      found.resize(40 * exercise.collection.shards()[i].columns());
      exercise.collection.read_rows(i, 0, 40, found);
    }
  }
  EXPECT_EQ(rows[0], rows[1]);
}

/// More than a kernel adds at once; the ranks take turns.
TEST_F(EmbeddingDevice, RowWiseStateOfManyColumns) {
  Setting made = setting(Sharding::column_wise, Pooling::sum, InputLayout::global);
  made.optimizer = RowOptimizer::row_wise_adagrad;
  made.tables = {{"many columns", 30, 90, DatatypeKind::float32, Pooling::sum, 3, Sharding::column_wise}};
  ShardingPlan plan = plan_sharding(comm(), made.tables, {.batch = 16, .optimizer = made.optimizer});
  plan.shards.clear();
  for (std::size_t column = 0; column < 90; ++column)
    plan.shards.push_back({0, static_cast<int>(column) % comm().size(), 0, 30, column, column + 1});
  Exercise(comm(), made, plan).run("many columns");
}

}  // namespace
}  // namespace tutti::test
