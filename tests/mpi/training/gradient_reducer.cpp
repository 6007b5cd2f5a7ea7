// SPDX-License-Identifier: BSD-3-Clause
// What a reducer computes: every option, type and place of the gradients, on the whole and on parts of the ranks.
#include <bit>
#include <cstring>
#include <set>
#include <type_traits>

#include "mpi/training/reducer_model.hpp"

namespace tutti::test {
namespace {

constexpr Where places[] = {Where::bucket, Where::caller, Where::both};

template <typename T>
void run_steps(const Communicator& comm, const ReducerOptions& options, Where where, int steps) {
  Model<T> model(comm, options, where);
  for (int step = 0; step < steps; ++step) {
    model.backward(step);
    model.reducer().wait();
    model.expect_all(step);
  }
  EXPECT_EQ(model.reducer().statistics().steps, static_cast<std::size_t>(steps));
}

template <typename T>
class Reducer : public ::testing::Test {};
using Types = ::testing::Types<float, double, float16_t, bfloat16_t>;
TYPED_TEST_SUITE(Reducer, Types);

TYPED_TEST(Reducer, ReducesInBucketsOfEverySize) {
  for (const Communicator& comm : communicators())
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{5'000}, std::size_t{25} << 20U})
      for (const Where where : places) {
        if (!takes_all() && bytes != 5'000 && !std::is_same_v<TypeParam, float>) continue;
        ReducerOptions options;
        options.bucket_bytes = bytes;
        options.first_bucket_bytes = 600;
        run_steps<TypeParam>(comm, options, where, 4);
      }
}

TYPED_TEST(Reducer, Sums) {
  ReducerOptions options;
  options.op = ReduceKind::sum;
  options.bucket_bytes = 5'000;
  for (const Where where : places) run_steps<TypeParam>(communicators()[0], options, where, 3);
}

/// Whether the bits are of the sixteen settings in which any three options meet in all eight ways: those of more than
/// two ranks, which wait for one another on few cores.
bool is_in_design(unsigned bits) {
  const auto is_even = [bits](unsigned mask) { return std::popcount(bits & mask) % 2 == 0; };
  return is_even(0b010111) && is_even(0b101110);
}

TEST(ReducerOptions, EachWithTheOthers) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    if (!takes_all() && !is_in_design(bits)) continue;
    ReducerOptions options;
    options.bucket_bytes = 4'000;
    options.first_bucket_bytes = 300;
    options.rebuild = (bits & 1U) != 0;
    options.find_unused = (bits & 2U) != 0;
    options.uneven = (bits & 4U) != 0;
    options.average_active = (bits & 8U) != 0;
    options.check = (bits & 16U) != 0;
    options.communicators = (bits & 32U) != 0 ? 3 : 1;
    run_steps<float>(communicators()[0], options, places[bits % std::size(places)], 3);
  }
}

TEST(ReducerOptions, ManyBucketsAreMoreThanTheOperationsUnderWay) {
  const std::vector<Shape> shapes(150, Shape{257});
  for (const std::size_t communicators_used : {1U, 4U}) {
    ReducerOptions options;
    options.bucket_bytes = 1;
    options.communicators = communicators_used;
    Model<float> model(communicators()[0], options, Where::bucket, shapes);
    EXPECT_EQ(model.reducer().buckets().size(), shapes.size());
    for (int step = 0; step < 6; ++step) {
      model.backward(step);
      model.reducer().wait();
      model.expect_all(step);
    }
  }
}

TEST(ReducerTypes, OneModelMayHaveSeveral) {
  const Communicator& comm = communicators()[0];
  GradientReducer reducer(comm);
  constexpr DatatypeKind types[] = {DatatypeKind::float32, DatatypeKind::float64, DatatypeKind::bfloat16};
  for (std::size_t i = 0; i < 12; ++i) {
    Parameter p;
    p.name = "p" + std::to_string(i);
    p.shape = {i + 1, 3};
    p.type = types[i % 3];
    EXPECT_EQ(reducer.add(p), i);
  }
  reducer.prepare();
  EXPECT_EQ(reducer.buckets().size(), 3U);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 12; i-- > 0;) {
      const Buffer g = reducer.gradient(i);
      const double value = static_cast<double>(comm.rank() + 1) * base(i, 0, step);
      for (std::size_t k = 0; k < g.count; ++k) {
        if (i % 3 == 0) static_cast<float*>(g.data)[k] = static_cast<float>(value);
        if (i % 3 == 1) static_cast<double*>(g.data)[k] = value;
        if (i % 3 == 2) static_cast<bfloat16_t*>(g.data)[k] = bfloat16_t(static_cast<float>(value));
      }
      reducer.ready(i);
    }
    reducer.wait();
    for (std::size_t i = 0; i < 12; ++i) {
      const Buffer g = reducer.gradient(i);
      const double want = (comm.size() + 1) / 2.0 * base(i, 0, step);
      for (std::size_t k = 0; k < g.count; ++k) {
        if (i % 3 == 0) {
          EXPECT_EQ(static_cast<double>(static_cast<float*>(g.data)[k]), want);
        }
        if (i % 3 == 1) {
          EXPECT_EQ(static_cast<double*>(g.data)[k], want);
        }
        if (i % 3 == 2) {
          EXPECT_EQ(static_cast<double>(float(static_cast<bfloat16_t*>(g.data)[k])), want);
        }
      }
    }
  }
}

TEST(ReducerMemory, GradientsAreViewsOrTheCallersOwn) {
  const Communicator& comm = communicators()[0];
  std::vector<float> small(10, 1.F);
  std::vector<float> large(5'000, static_cast<float>(comm.rank()));
  ReducerOptions options;
  options.bucket_bytes = 8'000;
  GradientReducer reducer(comm, options);
  for (auto* memory : {&small, &large}) {
    Parameter p;
    p.name = "own";
    p.shape = {memory->size()};
    p.gradient = memory->data();
    reducer.add(p);
  }
  Parameter view;
  view.name = "view";
  view.shape = {33};
  reducer.add(view);
  reducer.prepare();
  EXPECT_EQ(reducer.gradient(0).data, small.data());
  EXPECT_EQ(reducer.gradient(1).data, large.data());
  const std::byte* begin = static_cast<const std::byte*>(reducer.buckets()[0].data.data);
  EXPECT_EQ(reducer.gradient(2).data, begin);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin) % 64, 0U);
  // Alone in its bucket, the caller's gradient is the bucket.
  ASSERT_EQ(reducer.buckets().size(), 3U);
  EXPECT_EQ(reducer.buckets()[1].data.data, large.data());
  EXPECT_EQ(reducer.buckets()[1].data.count, large.size());
  for (std::size_t i = 3; i-- > 0;) reducer.ready(i);
  reducer.wait();
  for (const float x : small) EXPECT_EQ(x, 1.F);
  for (const float x : large) EXPECT_EQ(x, static_cast<float>(comm.size() - 1) / 2);
}

TEST(ReducerValues, AreThoseOfRank0) {
  const Communicator& comm = communicators()[0];
  GradientReducer reducer(comm);
  std::vector<double> value(1'000, comm.rank());
  std::vector<float> untouched(10, static_cast<float>(comm.rank()));
  Parameter p;
  p.name = "sent";
  p.shape = {10, 100};
  p.type = DatatypeKind::float64;
  p.value = value.data();
  reducer.add(p);
  p.name = "kept";
  p.value = nullptr;
  reducer.add(p);
  reducer.prepare();
  EXPECT_EQ(value, std::vector<double>(1'000, 0));
  EXPECT_EQ(reducer.parameters(), 2U);
  EXPECT_EQ(reducer.parameter(1).name, "kept");
}

TEST(ReducerSync, WithoutItNothingIsSent) {
  const Communicator& comm = communicators()[0];
  Model<float> model(comm, {}, Where::bucket);
  model.reducer().set_sync(false);
  for (int step = 0; step < 3; ++step) {
    // Ranks accumulate for themselves, and need not even call equally often.
    for (int k = 0; k <= comm.rank(); ++k) model.reducer().ready(k % 2 == 0 ? 0 : 1);
    model.reducer().wait();
  }
  EXPECT_EQ(model.reducer().statistics().steps, 0U);
  model.fill(5, 1);
  EXPECT_EQ(model.gradient(5)[3], static_cast<float>((comm.rank() + 1) * base(5, 3, 1)));
  model.reducer().set_sync(true);
  model.backward(4);
  model.reducer().wait();
  model.expect_all(4);
}

TEST(ReducerProgress, CanBeAskedForAtAnyTime) {
  Model<float> model(communicators()[0], {}, Where::both);
  model.reducer().progress();
  for (int step = 0; step < 3; ++step) {
    model.backward(step);
    for (int k = 0; k < 100; ++k) model.reducer().progress();
    model.reducer().wait();
    model.reducer().progress();
    model.expect_all(step);
  }
}

TEST(ReducerUnused, ParametersThatNoRankMarkedAreLeftOut) {
  const Communicator& comm = communicators()[0];
  for (const bool check : {false, true}) {
    ReducerOptions options;
    options.find_unused = true;
    options.check = check;
    options.bucket_bytes = 3'000;
    Model<float> model(comm, options, Where::both);
    for (int step = 0; step < 4; ++step) {
      // 4 (the caller's) and 5 (in a bucket) are marked by nobody, 6 and 9 by rank 0 only.
      for (std::size_t i : {4U, 5U, 6U, 9U}) {
        const auto g = model.gradient(i);
        std::fill(g.begin(), g.end(), 77.F);
      }
      std::vector<std::size_t> skip{4, 5};
      if (comm.rank() != 0) skip.insert(skip.end(), {6, 9});
      model.backward(step, skip);
      model.reducer().wait();
      for (std::size_t i = 0; i < model.size(); ++i) EXPECT_EQ(model.reducer().used(i), i != 4 && i != 5) << i;
      for (const float x : model.gradient(4)) EXPECT_EQ(x, 77.F);
      for (const float x : model.gradient(5)) EXPECT_EQ(x, 0.F);
      const int ranks = comm.size();
      model.expect(step, ranks * (ranks + 1) / 2, ranks, {4, 5, 6, 9});
      for (std::size_t i : {6U, 9U}) {
        const auto g = model.gradient(i);
        for (std::size_t k = 0; k < g.size(); ++k)
          EXPECT_EQ(g[k], static_cast<float>(base(i, k, step)) / static_cast<float>(ranks));
      }
    }
  }
}

/// A user's own: the reduction as it is, twice, with a second stage of persistent operations.
class TwiceHook final : public CommunicationHook {
 public:
  [[nodiscard]] std::string name() const override { return "twice"; }
  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    comms_ = comms;
    buckets_ = buckets;
    first_.clear();
    first_.resize(buckets.size());
    second_.clear();
    stage_.assign(buckets.size(), 0);
    for (const GradientBucket& b : buckets)
      second_.push_back(allreduce_init(comms[b.index % comms.size()], b.data, ReduceKind::avg));
    ++prepared;
  }
  void start(std::size_t b) override {
    EXPECT_EQ(b, next_);
    next_ = (next_ + 1) % buckets_.size();
    stage_[b] = 1;
    first_[b] = iallreduce(comms_[b % comms_.size()], buckets_[b].data, buckets_[b].op);
  }
  bool test(std::size_t b) override {
    EXPECT_NE(stage_[b], 0);
    if (stage_[b] == 1 && first_[b].test()) {
      second_[b].start();
      stage_[b] = 2;
    }
    if (stage_[b] != 2 || !second_[b].test()) return false;
    stage_[b] = 0;
    return true;
  }
  [[nodiscard]] std::size_t bytes(std::size_t b) const override { return buckets_[b].data.count * 2; }
  int prepared = 0;

 private:
  std::span<const Communicator> comms_;
  std::span<const GradientBucket> buckets_;
  std::vector<Request> first_, second_;
  std::vector<int> stage_;
  std::size_t next_ = 0;
};

TEST(ReducerHook, MayBeTheUsersOwn) {
  const auto hook = std::make_shared<TwiceHook>();
  ReducerOptions options;
  options.hook = hook;
  options.bucket_bytes = 3'000;
  options.communicators = 2;
  Model<float> model(communicators()[0], options, Where::both);
  for (int step = 0; step < 5; ++step) {
    model.backward(step);
    model.reducer().wait();
    model.expect_all(step);
  }
  EXPECT_EQ(&model.reducer().hook(), hook.get());
  EXPECT_EQ(static_cast<std::size_t>(hook->prepared), model.reducer().layout());
  std::size_t bytes = 0;
  for (const GradientBucket& b : model.reducer().buckets()) bytes += b.data.count * 2;
  EXPECT_EQ(model.reducer().statistics().bytes_per_step, bytes);
}

TEST(Reducers, TwoAtATimeDoNotMeet) {
  const Communicator& comm = communicators()[0];
  Model<float> one(comm, {}, Where::bucket);
  Model<double> two(comm, {}, Where::caller);
  for (int step = 0; step < 4; ++step) {
    // Ranks begin with different ones.
    if (comm.rank() % 2 == 0) {
      one.backward(step);
      two.backward(step);
    } else {
      two.backward(step);
      one.backward(step);
    }
    float mine = 1;
    allreduce(comm, &mine, 1, sum);
    EXPECT_EQ(mine, static_cast<float>(comm.size()));
    two.reducer().wait();
    one.reducer().wait();
    one.expect_all(step);
    two.expect_all(step);
  }
}

TEST(Reducers, CanBeMovedAndWithoutParameters) {
  const Communicator& comm = communicators()[0];
  GradientReducer empty(comm);
  empty.prepare();
  GradientReducer moved = std::move(empty);
  moved.wait();
  moved.wait();
  EXPECT_EQ(moved.statistics().steps, 2U);
  EXPECT_TRUE(moved.buckets().empty());
}

TEST(Reducers, CanEndWithinAStep) {
  const Communicator& comm = communicators()[0];
  for (int k = 0; k < 3; ++k) {
    Model<float> model(comm, {}, Where::bucket);
    model.backward(0);
  }
  Model<float> model(comm, {}, Where::bucket);
  model.backward(1);
  model.reducer().wait();
  model.expect_all(1);
}

}  // namespace
}  // namespace tutti::test
