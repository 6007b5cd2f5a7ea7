// SPDX-License-Identifier: BSD-3-Clause
// Steps that are captured and launched.
#include <algorithm>

#include "support.hpp"

namespace tutti::test {
namespace {

using Graphs = DlrmDevice;

std::size_t launched() {
  const auto& record = machine().runtime.record();
  return static_cast<std::size_t>(std::count(record.begin(), record.end(), "launch_graph"));
}

/// Prepared batches, whose bags are all of one length.
void compare_graphs(const Communicator& comm, const std::string& more, std::size_t least_launches,
                    const std::string& model = small_model) {
  const std::string flags = more + " --data-generation=bench";
  const auto direct = train(comm, model + " --device " + flags);
  machine().runtime.clear_record();
  const auto graphs = train(comm, model + " --device --graph " + flags);
  EXPECT_GE(launched(), least_launches) << flags;
  if (comm.rank() == 0) expect_close(graphs, direct, 0, flags);
}

/// Eight steps: each of two slots is direct once. Divided rows get other numbers of indices in each batch, for all of
/// which there is room in the same places.
TEST_F(Graphs, GiveTheSameBits) {
  compare_graphs(comm(), "--sharding=table-wise", 6);
  compare_graphs(comm(), "--sharding=column-wise --optimizer=adagrad", 6);
  compare_graphs(comm(), "--sharding=data-parallel --compute-type=bf16", 6);
  compare_graphs(comm(), "--sharding=row-wise", 6);
}

/// Bags of one to four indices: other numbers in each batch.
TEST_F(Graphs, ServeBatchesWithOtherNumbersOfIndices) {
  std::string model = small_model;
  const std::string fixed = " --num-indices-per-lookup-fixed";
  model.erase(model.find(fixed), fixed.size());
  for (const char* sharding : {"table-wise", "row-wise", "data-parallel"})
    compare_graphs(comm(), std::string("--sharding=") + sharding, 6, model);
}

TEST_F(Graphs, AreMadeAnewWhenShapesOrRatesChange) {
  compare_graphs(comm(), "--sharding=table-wise --data-size=180 --nepochs=3", 6);
  compare_graphs(comm(), "--sharding=table-wise --lr-num-warmup-steps=4 --data-size=288", 3);
}

TEST_F(Graphs, NeedTheDevice) {
  EXPECT_THROW((void)options_of("--graph"), std::runtime_error);
  EXPECT_THROW((void)options_of("--device --graph --optimizer=adam"), std::runtime_error);
  EXPECT_THROW((void)options_of("--device --graph --table-type=bf16"), std::runtime_error);
}

}  // namespace
}  // namespace tutti::test
