// SPDX-License-Identifier: BSD-3-Clause
// Every division of the tables, optimizer and type of rows trains on the device as on the host.
#include "support.hpp"

namespace tutti::test {
namespace {

using Plans = DlrmDevice;

void compare_plans(const Communicator& comm, const std::string& flags, double tolerance) {
  const auto host = train(comm, small_model + (" " + flags));
  const auto device = train(comm, small_model + (" " + flags + " --device"));
  if (comm.rank() == 0) expect_close(device, host, tolerance, flags);
}

TEST_F(Plans, EverySharding) {
  for (const std::string sharding : {"data-parallel", "table-wise", "row-wise", "column-wise", "mixed"})
    compare_plans(comm(), "--sharding=" + sharding, 1e-5);
}

TEST_F(Plans, EveryOptimizer) {
  for (const std::string optimizer : {"adagrad", "rwsadagrad", "adam"})
    compare_plans(comm(), "--sharding=row-wise --learning-rate=0.02 --optimizer=" + optimizer, 1e-5);
}

TEST_F(Plans, EveryTypeOfRows) {
  for (const std::string type : {"bf16", "fp16", "int8"}) {
    compare_plans(comm(), "--sharding=table-wise --table-type=" + type, 1e-4);
    compare_plans(comm(), "--sharding=row-wise --no-stochastic-rounding --table-type=" + type, 1e-4);
  }
}

TEST_F(Plans, EveryTypeOfVectorsThatTravel) {
  for (const std::string type : {"bf16", "fp16"}) {
    compare_plans(comm(), "--sharding=mixed --exchange-type=" + type, 1e-5);
    compare_plans(comm(), "--sharding=row-wise --exchange-type=" + type, 1e-5);
  }
}

TEST_F(Plans, EveryInteraction) {
  compare_plans(comm(), "--arch-interaction-op=cat", 1e-5);
  compare_plans(comm(), "--arch-interaction-op=dcn --dcn-num-layers=2 --dcn-low-rank-dim=5", 1e-5);
  compare_plans(comm(), "--arch-interaction-itself", 1e-5);
}

TEST_F(Plans, EveryLoss) {
  compare_plans(comm(), "--loss-function=mse --loss-threshold=0.4", 1e-5);
  compare_plans(comm(), "--loss-function=wbce --loss-weights=1.0-3.0", 1e-5);
}

/// A last batch that is short, fewer samples than ranks, and a learning rate that changes.
TEST_F(Plans, BatchesOfSeveralSizes) {
  compare_plans(comm(), "--mini-batch-size=8 --data-size=25 --nepochs=2 --lr-num-warmup-steps=5", 1e-5);
}

/// Their squares are added over the ranks before the update.
TEST_F(Plans, RowWiseAdagradOnDividedColumns) {
  compare_plans(comm(), "--sharding=column-wise --optimizer=rwsadagrad", 1e-5);
  compare_plans(comm(), "--sharding=column-wise --optimizer=rwsadagrad --table-type=bf16 --no-stochastic-rounding",
                1e-4);
}

}  // namespace
}  // namespace tutti::test
