// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "mpi/training/model.hpp"
#include "support/world.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;

using Shapes = std::vector<std::vector<std::size_t>>;
const Shapes shapes{{60, 50}, {50}, {3, 7, 11}, {}, {40, 41}, {5}};

kernels::DenseUpdate momentum() {
  kernels::DenseUpdate update;
  update.momentum = 0.9;
  update.weight_decay = 0.01;
  return update;
}

kernels::DenseUpdate adam() {
  kernels::DenseUpdate update;
  update.optimizer = kernels::DenseOptimizer::adam;
  return update;
}

kernels::DenseUpdate plain() { return {}; }

ReducerOptions options_of(std::size_t bucket_bytes, std::shared_ptr<CommunicationHook> hook, bool rebuild = true) {
  ReducerOptions options;
  options.bucket_bytes = bucket_bytes;
  options.first_bucket_bytes = bucket_bytes / 2;
  options.communicators = 2;
  options.rebuild = rebuild;
  options.hook = std::move(hook);
  return options;
}

/// The replicated update, with the state of all parameters.
template <typename T>
struct Replica {
  Replica(Model<T>& m, const kernels::DenseUpdate& u) : model(m), update(u) {
    for (const auto& values : model.values()) state.emplace_back(kernels::state_values(update) * values.size());
  }
  void step(const GradientReducer& reducer, double rate) {
    update.learning_rate = rate;
    ++steps;
    for (std::size_t p = 0; p < model.parameters(); ++p) {
      if (!reducer.used(p)) continue;
      const Buffer gradient = reducer.gradient(p);
      kernels::dense_update(update, steps, std::span<T>(model.values()[p]),
                            std::span<const T>(static_cast<const T*>(gradient.data), gradient.count),
                            std::span<T>(state[p]));
    }
  }
  Model<T>& model;
  kernels::DenseUpdate update;
  std::vector<std::vector<T>> state{};
  std::uint64_t steps = 0;
};

template <typename T>
std::vector<T> flat(Model<T>& model) {
  std::vector<T> all;
  for (const auto& values : model.values()) all.insert(all.end(), values.begin(), values.end());
  return all;
}

template <typename T>
void expect_same_bits(Model<T>& a, Model<T>& b, const std::string& what) {
  const auto x = flat(a);
  const auto y = flat(b);
  ASSERT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(T)), 0) << what;
}

template <typename T>
class Sharded : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Sharded, Types);

/// Over buckets of several sizes, which are made anew after the first step, with gradients in buckets and elsewhere.
TYPED_TEST(Sharded, HasTheBitsOfTheReplicatedUpdate) {
  int turn = 0;
  for (const bool own : {false, true})
    for (const auto& [bucket_bytes, update] :
         {std::pair(std::size_t{1} << 11, momentum()), std::pair(std::size_t{1} << 11, adam()),
          std::pair(std::size_t{1} << 14, adam()), std::pair(std::size_t{1} << 20, plain())}) {
      // With more than two ranks each update has one place of the gradients: the other one for the other type.
      if (world().size() > 2 && (turn++ + (own ? 1 : 0) + (std::is_same_v<TypeParam, float> ? 1 : 0)) % 2 == 0)
        continue;
      Model<TypeParam> one(shapes, own);
      Model<TypeParam> other(shapes, own);
      GradientReducer replicated(world(), options_of(bucket_bytes, nullptr));
      GradientReducer sharded(world(), options_of(bucket_bytes, sharding_hook()));
      one.add_to(replicated);
      other.add_to(sharded);
      replicated.prepare();
      sharded.prepare();
      Replica<TypeParam> replica(one, update);
      ShardedOptimizer optimizer(sharded, world(), update);
      for (unsigned step = 0; step < 3; ++step) {
        const double rate = 0.1 / (1 + step);
        one.backward(replicated, world().rank(), step);
        replicated.wait();
        replica.step(replicated, rate);
        other.backward(sharded, world().rank(), step);
        sharded.wait();
        EXPECT_EQ(optimizer.step(rate), 0);
        expect_same_bits(one, other, "step " + std::to_string(step) + ", bucket " + std::to_string(bucket_bytes));
      }
      EXPECT_EQ(sharded.layout(), replicated.layout());
      if (bucket_bytes == std::size_t{1} << 11) {
        EXPECT_EQ(sharded.layout(), 2U);
      }
    }
}

/// A parameter that no rank marked ready keeps its value and its state, where momentum and decay would change them.
TYPED_TEST(Sharded, ParametersThatNoRankUsedAreNotUpdated) {
  constexpr std::size_t unused = 4;
  Model<TypeParam> one(shapes, false);
  Model<TypeParam> other(shapes, false);
  ReducerOptions options = options_of(1U << 12U, nullptr);
  options.find_unused = true;
  GradientReducer replicated(world(), options);
  options.hook = sharding_hook();
  GradientReducer sharded(world(), options);
  one.add_to(replicated);
  other.add_to(sharded);
  replicated.prepare();
  sharded.prepare();
  Replica<TypeParam> replica(one, momentum());
  ShardedOptimizer optimizer(sharded, world(), momentum());
  for (unsigned step = 0; step < 5; ++step) {
    const bool skips = step == 1 || step == 3;
    const auto before = other.values()[unused];
    one.backward(replicated, world().rank(), step, skips ? unused : shapes.size());
    other.backward(sharded, world().rank(), step, skips ? unused : shapes.size());
    replicated.wait();
    sharded.wait();
    replica.step(replicated, 0.1);
    (void)optimizer.step(0.1);
    EXPECT_EQ(other.values()[unused] == before, skips) << "step " << step;
    expect_same_bits(one, other, "step " + std::to_string(step));
  }
}

/// Each member of DenseUpdate reaches the update of the shards.
TYPED_TEST(Sharded, TakesEverySettingOfTheUpdate) {
  const auto trained = [](const kernels::DenseUpdate& update) {
    Model<TypeParam> model(shapes, false);
    GradientReducer reducer(world(), options_of(1U << 12U, sharding_hook()));
    model.add_to(reducer);
    reducer.prepare();
    ShardedOptimizer optimizer(reducer, world(), update);
    for (unsigned step = 0; step < 2; ++step) {
      model.backward(reducer, world().rank(), step);
      reducer.wait();
      (void)optimizer.step(0.1);
    }
    return flat(model);
  };
  const auto changes = std::vector<std::pair<std::string, void (*)(kernels::DenseUpdate&)>>{
      {"nesterov", [](kernels::DenseUpdate& u) { u.nesterov = true; }},
      {"momentum", [](kernels::DenseUpdate& u) { u.momentum = 0.5; }},
      {"weight_decay", [](kernels::DenseUpdate& u) { u.weight_decay = 0; }},
      {"beta1", [](kernels::DenseUpdate& u) { u.beta1 = 0.5; }},
      {"beta2", [](kernels::DenseUpdate& u) { u.beta2 = 0.5; }},
      {"epsilon", [](kernels::DenseUpdate& u) { u.epsilon = 0.5; }}};
  for (const auto& [name, change] : changes) {
    kernels::DenseUpdate usual =
        name == "nesterov" || name == "momentum" || name == "weight_decay" ? momentum() : adam();
    kernels::DenseUpdate changed = usual;
    change(changed);
    Model<TypeParam> model(shapes, false);
    GradientReducer reducer(world(), options_of(1U << 12U, nullptr));
    model.add_to(reducer);
    reducer.prepare();
    Replica<TypeParam> replica(model, changed);
    for (unsigned step = 0; step < 2; ++step) {
      model.backward(reducer, world().rank(), step);
      reducer.wait();
      replica.step(reducer, 0.1);
    }
    EXPECT_EQ(trained(changed), flat(model)) << name;
    EXPECT_NE(trained(usual), flat(model)) << name << " changes nothing, so this shows nothing";
  }
}

TYPED_TEST(Sharded, StateIsDividedOverTheRanks) {
  Model<TypeParam> model(shapes, false);
  GradientReducer reducer(world(), options_of(1U << 20U, sharding_hook()));
  model.add_to(reducer);
  reducer.prepare();
  ShardedOptimizer optimizer(reducer, world(), adam());
  model.backward(reducer, world().rank(), 0);
  reducer.wait();
  (void)optimizer.step(0.1);
  std::size_t values = 0;
  for (const auto& v : model.values()) values += v.size();
  std::uint64_t all = optimizer.state_bytes();
  allreduce(world(), &all, 1, sum);
  EXPECT_EQ(all, 2 * values * sizeof(TypeParam));
  const std::size_t share = (values / static_cast<std::size_t>(world().size()) + 64) * 2 * sizeof(TypeParam);
  EXPECT_LE(optimizer.state_bytes(), share);
}

/// The norm and the clipped update have the bits of clip_gradients and the replicated update.
TYPED_TEST(Sharded, ClipsAsReplicatedGradientsAre) {
  for (const double max_norm : {1.0, 1e9}) {
    Model<TypeParam> one(shapes, true);
    Model<TypeParam> other(shapes, false);
    GradientReducer replicated(world(), options_of(1U << 13U, nullptr, false));
    GradientReducer sharded(world(), options_of(1U << 13U, sharding_hook(), false));
    one.add_to(replicated);
    other.add_to(sharded);
    replicated.prepare();
    sharded.prepare();
    Replica<TypeParam> replica(one, momentum());
    ShardedOptimizer optimizer(sharded, world(), momentum());
    for (unsigned step = 0; step < 3; ++step) {
      one.backward(replicated, world().rank(), step);
      replicated.wait();
      const double expected = clip_gradients(replicated, world(), max_norm);
      replica.step(replicated, 0.1);
      other.backward(sharded, world().rank(), step);
      sharded.wait();
      EXPECT_EQ(optimizer.step(0.1, max_norm), expected);
      EXPECT_GT(expected, 100);
      expect_same_bits(one, other, "step " + std::to_string(step));
    }
  }
}

/// Trains `steps` steps from `first` on the given ranks, all of which contribute the same gradients, so that the number
/// of ranks does not matter.
template <typename T>
void train(const Communicator& comm, Model<T>& model, unsigned first, unsigned steps,
           const std::vector<std::byte>& from, std::vector<std::byte>& state, std::size_t bucket_bytes) {
  GradientReducer reducer(comm, options_of(bucket_bytes, sharding_hook()));
  model.add_to(reducer);
  reducer.prepare();
  ShardedOptimizer optimizer(reducer, comm, adam());
  if (!from.empty()) {
    optimizer.load(from);
    EXPECT_EQ(optimizer.save(), from);
  }
  for (unsigned step = first; step < first + steps; ++step) {
    model.backward(reducer, 0, step);
    reducer.wait();
    (void)optimizer.step(0.01);
  }
  state = optimizer.save();
}

TYPED_TEST(Sharded, GoesOnOnAnotherNumberOfRanks) {
  Model<TypeParam> straight(shapes, false);
  std::vector<std::byte> end;
  train(world(), straight, 0, 6, {}, end, 1U << 13U);
  Model<TypeParam> stopped(shapes, false);
  std::vector<std::byte> middle;
  train(world(), stopped, 0, 3, {}, middle, 1U << 13U);
  const int fewer = (world().size() + 1) / 2;
  const Communicator part = world().split(world().rank() < fewer ? 0 : 1);
  Model<TypeParam> resumed(shapes, false);
  resumed.values() = stopped.values();
  std::vector<std::byte> resumed_end;
  train(part, resumed, 3, 3, middle, resumed_end, 1U << 11U);
  expect_same_bits(straight, resumed, "resumed");
  EXPECT_EQ(resumed_end, end);
}

TEST(ShardedOptimizers, SayWhatIsWrong) {
  Model<float> model(shapes, false);
  GradientReducer replicated(world(), options_of(1U << 20U, nullptr));
  EXPECT_THROW(ShardedOptimizer(replicated, world(), adam()), Error);
  GradientReducer reducer(world(), options_of(1U << 20U, sharding_hook()));
  model.add_to(reducer);
  reducer.prepare();
  ShardedOptimizer optimizer(reducer, world(), adam());
  EXPECT_THROW((void)optimizer.step(0.1), Error);  // before wait()
  ShardedOptimizer other(reducer, world(), momentum());
  auto state = optimizer.save();
  EXPECT_THROW(other.load(state), Error);
  state.pop_back();
  EXPECT_THROW(optimizer.load(state), Error);
  GradientReducer halves(world(), options_of(1U << 20U, sharding_hook()));
  std::vector<bfloat16_t> values(4);
  (void)halves.add({"half", {4}, DatatypeKind::bfloat16, values.data(), nullptr});
  halves.prepare();
  ShardedOptimizer narrow(halves, world(), adam());
  halves.ready(0);
  halves.wait();
  EXPECT_THROW((void)narrow.step(0.1), Error);
}

}  // namespace
