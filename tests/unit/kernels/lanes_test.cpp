// SPDX-License-Identifier: BSD-3-Clause
#include "support/lanes.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <tutti/kernels/interaction.hpp>

#include "device_memory.hpp"

// This program runs the tests of kernels with lanes in random order, and each test fails where two lanes meet. First:
// that they are found where they do. TUTTI_TEST_SEED is the first seed, 1 by itself, GTEST_REPEAT their number.
namespace {

using namespace device_test;
using tutti::lanes::Warp;

/// Each test has its own order, and ends without faults.
class Orders : public testing::EmptyTestEventListener {
  void OnTestIterationStart(const testing::UnitTest& /*all*/, int iteration) override {
    const char* first = std::getenv("TUTTI_TEST_SEED");
    seed_ = (first == nullptr ? 1 : std::strtoull(first, nullptr, 10)) + static_cast<std::uint64_t>(iteration);
  }
  void OnTestStart(const testing::TestInfo& test) override {
    lanes::set_seed(seed_ * 1000003 + static_cast<std::uint64_t>(test.line()));
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) std::cout << "  TUTTI_TEST_SEED=" << seed_ << "\n";
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    for (const char* fault : lanes::take_faults()) ADD_FAILURE() << fault;
  }
  std::uint64_t seed_ = 1;
};

const bool has_orders = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Orders);
  return true;
}();

constexpr std::size_t values = 64;

/// What a body leaves in its scratch memory, and the faults that were found.
template <typename Body>
std::pair<std::vector<int>, std::size_t> run(const Body& body) {
  lanes::Scratch scratch(values * sizeof(int));
  const Warp warp(scratch);
  warp.each(values, [&](std::size_t k) { warp.scratch<int>()[k] = static_cast<int>(k); });
  body(warp);
  scratch.begin();
  const auto* at = reinterpret_cast<const int*>(scratch.data());
  return {std::vector<int>(at, at + values), lanes::take_faults().size()};
}

template <typename Body>
bool is_found(const Body& body) {
  return run(body).second > 0;
}

/// Lanes in ascending order, one after another.
struct InTurn {
  int* at;
  void each(std::size_t count, const std::function<void(std::size_t)>& one) const {
    for (std::size_t k = 0; k < count; ++k) one(k);
  }
  template <typename T>
  [[nodiscard]] T* scratch() const {
    return at;
  }
};

/// Whether the result differs from that of InTurn.
template <typename Body>
bool differs(const Body& body) {
  std::vector<int> expected(values);
  std::iota(expected.begin(), expected.end(), 0);
  body(InTurn{expected.data()});
  const auto [got, faults] = run(body);
  return faults == 0 && got != expected;
}

TEST(Lanes, LanesThatKeepApartAreRight) {
  const auto body = [](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) { at[k] *= 3; });
    warp.each(values / 2, [at](std::size_t k) { at[k] += at[k + values / 2]; });
  };
  EXPECT_FALSE(is_found(body));
  EXPECT_FALSE(differs(body));
}

TEST(Lanes, TwoThatWriteOnePlaceAreFound) {
  EXPECT_TRUE(is_found([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) { at[0] = static_cast<int>(100 + k); });
  }));
  EXPECT_TRUE(is_found([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) { at[k / 2] = static_cast<int>(100 + k); });
  }));
  EXPECT_TRUE(is_found([](const auto& warp) {
    auto* const at = warp.template scratch<char>();
    warp.each(3, [at](std::size_t k) { std::memset(at + 3 * k, 7, 4); });
  })) << "one byte";
  EXPECT_TRUE(is_found([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) { ++at[k % 32]; });
  })) << "a lane of 32 would do both, and one of 64 would not";
}

TEST(Lanes, WritesOfAllLanesAtOnceAreFound) {
  EXPECT_TRUE(is_found([](const auto& warp) { warp.template scratch<int>()[5] = 1; }));
  EXPECT_TRUE(is_found([](const auto& warp) {
    warp.template scratch<int>()[5] += 1;
    warp.each(values, [](std::size_t) {});
  }));
}

TEST(Lanes, AReadOfWhatAnotherWritesChangesTheResult) {
  EXPECT_TRUE(differs([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values - 1, [at](std::size_t k) { at[k + 1] += at[k]; });
  })) << "a sum that needs an order";
  EXPECT_TRUE(differs([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) { at[k] = at[0] + at[k] + 1; });
  })) << "the first place is written too";
  EXPECT_TRUE(differs([](const auto& warp) {
    int* const at = warp.template scratch<int>();
    warp.each(values, [at](std::size_t k) {
      if (k < 32) at[k] = 9;
      if (k >= 32) at[k] = at[k - 32];
    });
  })) << "a barrier is missing between the halves";
}

TEST(Lanes, AResultThatHangsOnTheOrderOfLanesDiffers) {
  std::vector<std::size_t> order;
  const auto body = [&](const auto& warp) {
    order.clear();
    warp.each(values, [&](std::size_t k) { order.push_back(k); });
  };
  body(Warp(*std::make_unique<lanes::Scratch>(0)));
  EXPECT_FALSE(std::ranges::is_sorted(order)) << "a list in the order of arrival";
}

/// Forward and backward of 1 to 29 features, with and without the diagonal, on device memory and on the host.
class Interactions : public Device {
 protected:
  void compare(std::size_t features, std::size_t dim, bool itself) {
    const DotInteraction shape{features, dim, itself, 1};
    constexpr std::size_t samples = 5;
    const std::size_t width = shape.width();
    std::mt19937 generator(static_cast<unsigned>(features * 100 + dim));
    const auto draw = [&](std::size_t count) {
      std::vector<float> all(count);
      for (float& x : all) x = static_cast<float>(generator() % 17) - 8.0F;  // products and sums without rounding
      return all;
    };
    const auto in = draw(features * samples * dim);
    const auto slope = draw(samples * width);
    std::vector<float> out(samples * width);
    std::vector<float> back(in.size());
    const auto there_in = upload(in);
    const auto there_slope = upload(slope);
    const auto there_out = make<float>(out.size());
    const auto there_back = make<float>(back.size());
    const auto views = [&]<typename T>(T* at) {
      std::vector<Pooled<T>> all;
      for (std::size_t f = 0; f < features; ++f) all.push_back({at + f * samples * dim, dim});
      return all;
    };
    dot_interaction_forward(shape, samples, views(std::as_const(in).data()), out.data(), width);
    dot_interaction_backward(shape, samples, views(std::as_const(in).data()), slope.data(), width, views(back.data()));
    kernels::device::dot_interaction_forward(shape, samples, views(static_cast<const float*>(there_in.data())),
                                             there_out.data(), width, workspace, stream);
    kernels::device::dot_interaction_backward(shape, samples, views(static_cast<const float*>(there_in.data())),
                                              there_slope.data(), width, views(there_back.data()), workspace, stream);
    runtime.run_all();
    const std::string what = std::to_string(features) + " features of " + std::to_string(dim);
    expect_same_bits(there_out.values(), out, what + ", forward");
    expect_same_bits(there_back.values(), back, what + ", backward");
  }
  kernels::device::Workspace workspace;
};

TEST_F(Interactions, HaveTheHostsNumbers) {
  for (const std::size_t features : {1U, 2U, 4U, 5U, 27U, 29U}) {
    for (const std::size_t dim : {1U, 4U, 7U, 64U}) {
      for (const bool itself : {false, true}) {
        compare(features, dim, itself);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
