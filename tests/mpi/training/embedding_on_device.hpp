// SPDX-License-Identifier: BSD-3-Clause
// Tables in device memory, on the stand-ins of CUDA and NCCL.
#pragma once

#include "embedding_exercise.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {

class EmbeddingOnDevice : public ::testing::Test {
 protected:
  void SetUp() override { comm_ = Communicator::duplicate(MPI_COMM_WORLD); }
  void TearDown() override {
    machine().drain();
    comm_ = {};
  }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] static Setting setting(Sharding sharding, kernels::Pooling pooling, InputLayout layout) {
    Setting made;
    made.tables = four_tables(sharding, pooling);
    made.layout = layout;
    made.memory = MemoryKind::device;
    made.stream = user_stream();
    made.drain = [] { machine().drain(); };
    made.access = [] { return std::make_shared<standin::HostAccess>(); };
    return made;
  }

 private:
  Communicator comm_;
};

}  // namespace tutti::test
