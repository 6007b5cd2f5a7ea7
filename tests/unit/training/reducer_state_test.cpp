// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "training/reducer/saved.hpp"
#include "training/reducer/tuner.hpp"

namespace tutti::detail::reducer {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

TEST(Tuner, TriesSizesUpToTheTotal) {
  EXPECT_EQ(Tuner::among_sizes(3 * mebibyte).progress().candidates,
            (std::vector<std::size_t>{mebibyte, 2 * mebibyte, 5 * mebibyte}));
  EXPECT_EQ(Tuner::among_sizes(418 * mebibyte).progress().candidates.back(), 100 * mebibyte);
  const Tuner small = Tuner::among_sizes(1'000);
  EXPECT_TRUE(small.is_settled()) << "there is nothing to choose";
  EXPECT_EQ(small.bytes(), mebibyte);
}

/// Seconds of a step: size 2 MiB is the fastest, and every first step with a size is slow.
double seconds_of(std::size_t bytes, std::size_t step) {
  const double base = bytes == 2 * mebibyte ? 1.0 : 1.5;
  return base + (step % (Tuner::warm_ups + Tuner::timed_steps) == 0 ? 10 : 0.01 * static_cast<double>(step % 3));
}

TEST(Tuner, SettlesForTheFastest) {
  Tuner tuner = Tuner::among_sizes(20 * mebibyte);
  const std::size_t steps = tuner.progress().candidates.size() * (Tuner::warm_ups + Tuner::timed_steps);
  for (std::size_t step = 0; step < steps; ++step) {
    EXPECT_FALSE(tuner.is_settled());
    const std::size_t before = tuner.bytes();
    const bool changes = tuner.record(seconds_of(before, step));
    EXPECT_EQ(changes, tuner.bytes() != before);
  }
  EXPECT_TRUE(tuner.is_settled());
  EXPECT_EQ(tuner.bytes(), 2 * mebibyte);
  EXPECT_FALSE(tuner.record(0.001));
}

TEST(Tuner, AFixedSizeStays) {
  Tuner tuner = Tuner::fixed(77);
  EXPECT_TRUE(tuner.is_settled());
  EXPECT_FALSE(tuner.record(1));
  EXPECT_EQ(tuner.bytes(), 77U);
}

Saved example() {
  Saved saved;
  saved.steps = 12;
  saved.order_settled = true;
  saved.rebuilt = true;
  saved.order = {2, 0, 1};
  saved.plan = {{2}, {0, 1}};
  Tuner tuner = Tuner::among_sizes(20 * mebibyte);
  for (int step = 0; step < 6; ++step) (void)tuner.record(1.0 / 3);
  saved.tuner = tuner.progress();
  saved.hook = {std::byte{1}, std::byte{255}, std::byte{7}};
  return saved;
}

TEST(Saved, ComesBackAsItWas) {
  const Saved sent = example();
  const Saved got = decode(encode(sent), 3);
  EXPECT_EQ(got.steps, sent.steps);
  EXPECT_TRUE(got.order_settled);
  EXPECT_TRUE(got.rebuilt);
  EXPECT_EQ(got.order, sent.order);
  EXPECT_EQ(got.plan, sent.plan);
  EXPECT_EQ(got.tuner.candidates, sent.tuner.candidates);
  EXPECT_EQ(got.tuner.best, sent.tuner.best);
  EXPECT_EQ(got.tuner.current, sent.tuner.current);
  EXPECT_EQ(got.tuner.step, sent.tuner.step);
  EXPECT_EQ(got.hook, sent.hook);
}

void expect_refused(std::span<const std::byte> bytes, std::size_t parameters) {
  try {
    (void)decode(bytes, parameters);
    ADD_FAILURE() << "taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io);
    EXPECT_NE(std::string(e.what()).find("argument state"), std::string::npos) << e.what();
  }
}

TEST(Saved, IsRefusedWhenTruncatedOrOfAnotherModel) {
  Saved saved = example();
  saved.hook.clear();
  const auto bytes = encode(saved);
  for (std::size_t length = 0; length < bytes.size(); ++length) expect_refused(std::span(bytes).first(length), 3);
  expect_refused(bytes, 2);
  expect_refused(bytes, 4);
  auto other = bytes;
  other[0] ^= std::byte{1};
  expect_refused(other, 3);
  saved.plan = {{2}, {0, 2}};
  expect_refused(encode(saved), 3);
  saved.plan = {{2}, {}, {0, 1}};
  expect_refused(encode(saved), 3);
}

}  // namespace
}  // namespace tutti::detail::reducer
