// SPDX-License-Identifier: BSD-3-Clause
// What one kind of run saved the other goes on with.
#include "support.hpp"

namespace tutti::test {
namespace {

using Checkpoints = DlrmDevice;

void go_on(const Communicator& comm, const std::string& first, const std::string& second, const std::string& flags) {
  const SharedFolder folder(comm);
  const std::string saved = folder.path("saved");
  const auto whole = train(comm, small_model + (" " + flags));
  train(comm, small_model + (" " + flags + " --max-steps=4 --checkpoint-dir=" + saved + first));
  const auto rest = train(comm, small_model + (" " + flags + " --load=" + saved + second));
  if (comm.rank() != 0) return;
  ASSERT_GE(whole.size(), 5U);
  expect_close(rest, {whole.begin() + 4, whole.end()}, 2e-5, flags + first + second);
}

TEST_F(Checkpoints, DeviceToHost) { go_on(comm(), " --device", "", "--sharding=row-wise --optimizer=adagrad"); }

TEST_F(Checkpoints, HostToDevice) {
  go_on(comm(), "", " --device", "--sharding=table-wise --optimizer=adam --learning-rate=0.02");
}

TEST_F(Checkpoints, DeviceToDevice) {
  go_on(comm(), " --device", " --device --graph", "--sharding=mixed");
  go_on(comm(), " --device", " --device", "--sharding=table-wise --table-type=int8 --no-stochastic-rounding");
}

}  // namespace
}  // namespace tutti::test
