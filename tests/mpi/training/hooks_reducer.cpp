// SPDX-License-Identifier: BSD-3-Clause
// Hooks under a reducer: several buckets and communicators at once, buckets made anew after the first step.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <functional>

#include "mpi/training/model.hpp"
#include "support/world.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;

const std::vector<std::vector<std::size_t>> shapes{{60, 50}, {50}, {30, 7, 11}, {}, {40, 41}, {5}};

ReducerOptions options_of(std::shared_ptr<CommunicationHook> hook, std::size_t communicators) {
  ReducerOptions options;
  options.bucket_bytes = 1U << 13U;
  options.first_bucket_bytes = 1U << 11U;
  options.communicators = communicators;
  options.hook = std::move(hook);
  return options;
}

std::shared_ptr<CommunicationHook> power_sgd(std::size_t start_step) {
  PowerSgdOptions options;
  options.start_step = start_step;
  return power_sgd_hook(options);
}

using Value = std::function<double(int rank, unsigned step, std::size_t parameter, std::size_t i)>;

void run_backward(GradientReducer& reducer, unsigned step, const Value& value) {
  for (std::size_t k = shapes.size(); k-- > 0;) {
    const std::size_t p = (k + 2) % shapes.size();
    auto* gradient = static_cast<float*>(reducer.gradient(p).data);
    for (std::size_t i = 0; i < reducer.gradient(p).count; ++i)
      gradient[i] = static_cast<float>(value(world().rank(), step, p, i));
    reducer.ready(p);
  }
  reducer.wait();
}

/// The mean over the ranks is expected, up to `tolerance` of the largest value.
void expect_means(GradientReducer& reducer, unsigned step, const Value& value, double tolerance) {
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const Buffer gradient = reducer.gradient(p);
    for (std::size_t i = 0; i < gradient.count; ++i) {
      double mean = 0;
      for (int r = 0; r < world().size(); ++r) mean += value(r, step, p, i) / world().size();
      ASSERT_NEAR(static_cast<const float*>(gradient.data)[i], mean, tolerance) << "step " << step << ", " << p;
    }
  }
}

/// Of rank one as a matrix of any shape here.
double rank_one(int rank, unsigned step, std::size_t p, std::size_t i) {
  const std::size_t columns[] = {50, 1, 77, 1, 41, 1};
  return std::sin(1.0 + static_cast<double>(i / columns[p])) * std::cos(static_cast<double>(i % columns[p])) *
         (rank + 1) / (1 + step);
}

TEST(HooksUnderAReducer, GiveTheMean) {
  const Value noise = [](int rank, unsigned step, std::size_t p, std::size_t i) {
    return Model<double>::gradient_of(rank, step, p, i);
  };
  for (const std::size_t communicators : {1U, 2U})
    for (const bool own : {false, true}) {
      struct Case {
        std::shared_ptr<CommunicationHook> hook;
        const Value& value;
        double tolerance;
      };
      const Value low = rank_one;
      for (const Case& c : {Case{nullptr, noise, 1e-5}, Case{bf16_hook(), noise, 0.2}, Case{fp16_hook(), noise, 0.025},
                            Case{power_sgd(2), low, 1e-4}}) {
        Model<float> model(shapes, own);
        GradientReducer reducer(world(), options_of(c.hook, communicators));
        model.add_to(reducer);
        reducer.prepare();
        for (unsigned step = 0; step < 5; ++step) {
          run_backward(reducer, step, c.value);
          expect_means(reducer, step, c.value, c.tolerance);
        }
        EXPECT_EQ(reducer.layout(), 2U);
      }
    }
}

std::vector<float> gradients(const GradientReducer& reducer) {
  std::vector<float> all;
  for (std::size_t p = 0; p < reducer.parameters(); ++p) {
    const Buffer gradient = reducer.gradient(p);
    const auto* from = static_cast<const float*>(gradient.data);
    all.insert(all.end(), from, from + gradient.count);
  }
  return all;
}

TEST(HooksUnderAReducer, PowerSgdGoesOnFromASavedReducer) {
  const Value noise = [](int rank, unsigned step, std::size_t p, std::size_t i) {
    return Model<double>::gradient_of(rank, step, p, i);
  };
  Model<float> one(shapes, false);
  Model<float> other(shapes, false);
  GradientReducer straight(world(), options_of(power_sgd(1), 2));
  GradientReducer resumed(world(), options_of(power_sgd(1), 2));
  one.add_to(straight);
  other.add_to(resumed);
  straight.prepare();
  resumed.prepare();
  for (unsigned step = 0; step < 4; ++step) run_backward(straight, step, noise);
  resumed.load(straight.save());
  for (unsigned step = 4; step < 7; ++step) {
    run_backward(straight, step, noise);
    run_backward(resumed, step, noise);
    ASSERT_EQ(gradients(straight), gradients(resumed)) << "step " << step;
  }
}

/// A quadratic of its own on each rank, the mean of which is to be minimised: the loss after 300 steps.
double trained_loss(std::shared_ptr<CommunicationHook> hook, std::size_t& bytes) {
  constexpr std::size_t rows = 64;
  constexpr std::size_t cols = 96;
  std::vector<float> weights(rows * cols);
  GradientReducer reducer(world(), options_of(std::move(hook), 1));
  (void)reducer.add({"weights", {rows, cols}, DatatypeKind::float32, weights.data(), nullptr});
  reducer.prepare();
  const auto target = [](int rank, std::size_t i) {
    return std::sin(static_cast<double>(i) * 0.37) + 0.5 * std::cos(static_cast<double>(i * i % 1009) + rank);
  };
  for (unsigned step = 0; step < 300; ++step) {
    auto* gradient = static_cast<float*>(reducer.gradient(0).data);
    for (std::size_t i = 0; i < weights.size(); ++i)
      gradient[i] = weights[i] - static_cast<float>(target(world().rank(), i));
    reducer.ready(0);
    reducer.wait();
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] -= 0.05F * static_cast<float*>(reducer.gradient(0).data)[i];
  }
  bytes = reducer.statistics().bytes_per_step;
  double loss = 0;
  for (int r = 0; r < world().size(); ++r)
    for (std::size_t i = 0; i < weights.size(); ++i)
      loss += std::pow(static_cast<double>(weights[i]) - target(r, i), 2) / world().size();
  return loss + 100;  // on one rank the least loss is zero
}

TEST(HooksUnderAReducer, PowerSgdTrainsToTheSameLoss) {
  std::size_t all_bytes = 0;
  std::size_t fewer_bytes = 0;
  const double loss = trained_loss(nullptr, all_bytes);
  const double compressed = trained_loss(power_sgd(10), fewer_bytes);
  EXPECT_NEAR(compressed, loss, 0.01 * loss);
  EXPECT_LT(fewer_bytes * 19, all_bytes);
  EXPECT_EQ(fewer_bytes, (64 + 96) * 2 * sizeof(float));
}

/// Of exponents so far apart that a rounded sum depends on the order of its terms.
template <typename T>
T wide(int block, unsigned step, std::size_t p, std::size_t i) {
  auto mixed = static_cast<std::uint64_t>(block) * 1000003U + step * 10007U + p * 101U + i * 7919U + 1;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 32)) * 0x94d049bb133111ebU;
  const auto number = static_cast<double>(static_cast<std::int64_t>(mixed >> 11U & 0xffffffU) - 0x7fffff);
  return static_cast<T>(std::ldexp(number, static_cast<int>(mixed >> 40U & 31U) - 20));
}

/// The exact sum of these terms, rounded once.
template <typename T>
T exact_total(const std::vector<T>& terms) {
  ExactSum total;
  for (const T term : terms) total.add(static_cast<double>(term));
  return static_cast<T>(total.rounded(datatype_of<T>().kind()));
}

/// The gradients of three steps, each over the blocks of this rank.
template <typename T>
std::vector<T> steps_over_blocks(const Communicator& comm, const ReducerOptions& options, bool own) {
  test::Model<T> model(shapes, own);
  GradientReducer reducer(comm, options);
  model.add_to(reducer);
  reducer.prepare();
  const SampleSlice mine = sample_slice(options.blocks, comm.rank(), comm.size());
  std::vector<T> all;
  for (unsigned step = 0; step < 3; ++step) {
    for (std::size_t block = mine.begin; block < mine.end; ++block)
      for (std::size_t k = shapes.size(); k-- > 0;) {
        const std::size_t p = (k + step) % shapes.size();
        auto* gradient = static_cast<T*>(reducer.gradient(p).data);
        for (std::size_t i = 0; i < reducer.gradient(p).count; ++i)
          gradient[i] = wide<T>(static_cast<int>(block), step, p, i);
        reducer.ready(p);
      }
    reducer.wait();
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      const auto* gradient = static_cast<const T*>(reducer.gradient(p).data);
      all.insert(all.end(), gradient, gradient + reducer.gradient(p).count);
    }
  }
  return all;
}

template <typename T>
std::vector<T> expected_over_blocks(std::size_t blocks, T divisor) {
  std::vector<T> all;
  std::vector<T> terms(blocks);
  const test::Model<T> model(shapes, true);
  for (unsigned step = 0; step < 3; ++step)
    for (std::size_t p = 0; p < shapes.size(); ++p)
      for (std::size_t i = 0; i < model.count(p); ++i) {
        for (std::size_t block = 0; block < blocks; ++block)
          terms[block] = wide<T>(static_cast<int>(block), step, p, i);
        all.push_back(exact_total(terms) / divisor);
      }
  return all;
}

struct BlocksCase {
  std::size_t blocks;
  std::size_t bucket_bytes;
  bool own;
  ReduceKind op;
};

template <typename T>
void expect_bits_over_blocks(const BlocksCase& c) {
  ReducerOptions options;
  options.blocks = c.blocks;
  options.bucket_bytes = options.first_bucket_bytes = c.bucket_bytes;
  options.communicators = c.own ? 2 : 1;
  options.check = c.own && c.blocks == 4;
  options.op = c.op;
  const auto expected = expected_over_blocks<T>(c.blocks, static_cast<T>(c.op == ReduceKind::sum ? 1 : c.blocks));
  EXPECT_TRUE(steps_over_blocks<T>(world(), options, c.own) == expected) << c.blocks << " blocks, " << c.bucket_bytes;
}

// Each number of ranks is held against the same sums.
TEST(HooksUnderAReducer, BlocksGiveTheSameBitsOnAnyNumberOfRanks) {
  expect_bits_over_blocks<float>({4, 1, true, ReduceKind::sum});
  expect_bits_over_blocks<float>({7, 1U << 13U, false, ReduceKind::avg});
  expect_bits_over_blocks<float>({7, 1U << 20U, true, ReduceKind::sum});
  expect_bits_over_blocks<double>({4, 1U << 20U, false, ReduceKind::avg});
  expect_bits_over_blocks<double>({7, 1U << 13U, true, ReduceKind::sum});
}

TEST(HooksUnderAReducer, BlocksAreCountedAndRefuseWhatTheyExclude) {
  const auto error_of = [](ReducerOptions options) {
    std::string text;
    try {
      GradientReducer reducer(world(), options);
      (void)reducer.add({"p", {3}, DatatypeKind::float32, nullptr, nullptr});
      reducer.prepare();
      reducer.ready(0);
      reducer.wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      text = error.what();
    }
    return text;
  };
  ReducerOptions options;
  options.blocks = static_cast<std::size_t>(world().size());
  EXPECT_EQ(error_of(options), "");
  options.blocks += 1;  // a rank has two
  EXPECT_NE(error_of(options).find("call ready(i)"), std::string::npos);
  options.blocks -= 2;
  if (options.blocks > 0) {
    EXPECT_NE(error_of(options).find("at least a block for each rank"), std::string::npos);
  }
  options.blocks = 8;
  for (auto* const flag : {&options.find_unused, &options.uneven}) {
    *flag = true;
    EXPECT_NE(error_of(options).find("excludes hook, find_unused, uneven"), std::string::npos);
    *flag = false;
  }
  options.hook = allreduce_hook();
  EXPECT_NE(error_of(options).find("excludes hook"), std::string::npos);
}

TEST(HooksUnderAReducer, AnExactSumDoesNotDependOnWhichRankHasWhichGradient) {
  const int ranks = world().size();
  std::vector<float> expected;
  std::vector<float> terms(static_cast<std::size_t>(ranks));
  for (std::size_t p = 0; p < shapes.size(); ++p)
    for (std::size_t i = 0; i < test::Model<float>(shapes, true).count(p); ++i) {
      for (int r = 0; r < ranks; ++r) terms[static_cast<std::size_t>(r)] = wide<float>(r, 0, p, i);
      expected.push_back(exact_total(terms));
    }
  for (const Accumulation accumulation : {Accumulation::exact, Accumulation::full})
    for (int shift = 0; shift < ranks; ++shift) {
      test::Model<float> model(shapes, shift % 2 == 0);
      auto options = options_of(allreduce_hook({.accumulation = accumulation}), 1);
      options.op = ReduceKind::sum;
      GradientReducer reducer(world(), options);
      model.add_to(reducer);
      reducer.prepare();
      run_backward(reducer, 0, [&](int rank, unsigned step, std::size_t p, std::size_t i) {
        return static_cast<double>(wide<float>((rank + shift) % ranks, step, p, i));
      });
      const bool is_exact = gradients(reducer) == expected;
      EXPECT_TRUE(is_exact || accumulation != Accumulation::exact) << "shift " << shift;
      if (ranks > 2) {
        EXPECT_TRUE(!is_exact || accumulation == Accumulation::exact) << "these numbers need no exact sum";
      }
    }
}

}  // namespace
