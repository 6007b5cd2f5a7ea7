// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "diagnosis/hosts.hpp"
#include "diagnosis/recorder.hpp"
#include "outofband/socket.hpp"

namespace tutti::detail::flight {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// As factories start it, and MPI_Finalize ends it.
TEST(Watchdog, NobodyWaitsForItWhileAnotherHostIsSilent) {
  if (Recorder::instance() == nullptr) GTEST_SKIP() << "the flight recorder is off";
  std::string problem;
  Host silent;
  const auto loopback = outofband::own_interfaces(0).loopback.address;
  const auto listener = outofband::Socket::listen(loopback, silent.card.addresses[0], problem);
  ASSERT_TRUE(listener.valid()) << problem;
  silent.card.count = 1;
  silent.card.process = 77;
  add_hosts({silent});
  const std::uint64_t call = Recorder::instance()->begin({.call = Call::recv}, State::running);
  start_watchdog(milliseconds(40), false);
  outofband::Socket asked;
  for (int i = 0; i < 5000 && !asked.valid(); ++i) {
    asked = listener.accept();
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(asked.valid()) << "it asks the other host";
  const auto begin = Clock::now();
  start_watchdog(milliseconds(40), false);
  EXPECT_LT(Clock::now() - begin, milliseconds(500)) << "a factory";
  stop_watchdog();
  EXPECT_LT(Clock::now() - begin, milliseconds(1000)) << "the end of MPI";
  Recorder::instance()->end(call, State::done);
}

}  // namespace
}  // namespace tutti::detail::flight
