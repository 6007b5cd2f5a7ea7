// SPDX-License-Identifier: BSD-3-Clause
// Ranks with different numbers of steps.
#include "mpi/training/reducer_model.hpp"

namespace tutti::test {
namespace {

/// Each rank has its own number of steps, then joins; the results of every step are checked on every rank.
template <typename T>
void run_epochs(const Communicator& comm, ReducerOptions options, Where where,
                const std::function<int(int)>& steps_of) {
  options.uneven = true;
  options.bucket_bytes = 3'000;
  Model<T> model(comm, options, where);
  int most = 0;
  for (int r = 0; r < comm.size(); ++r) most = std::max(most, steps_of(r));
  int counted = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto check = [&](int step) {
      int active = 0;
      int weight = 0;
      for (int r = 0; r < comm.size(); ++r)
        if (steps_of(r) > step) {
          ++active;
          weight += r + 1;
        }
      const int divisor = options.op == ReduceKind::sum ? 1 : options.average_active ? active : comm.size();
      model.expect(step, weight, divisor);
      ++counted;
    };
    int step = 0;
    for (; step < steps_of(comm.rank()); ++step) {
      model.backward(step);
      model.reducer().wait();
      check(step);
    }
    while (model.reducer().join()) check(step++);
    EXPECT_EQ(step, most);
  }
  EXPECT_EQ(model.reducer().statistics().steps, static_cast<std::size_t>(counted));
}

TEST(Join, RanksEndAtDifferentSteps) {
  int turn = 0;
  for (const Communicator& comm : communicators())
    for (const Where where : {Where::bucket, Where::caller, Where::both})
      for (const bool active : {false, true})
        for (const ReduceKind op : {ReduceKind::avg, ReduceKind::sum}) {
          // With more than two ranks, each communicator, average and operation has one place of the gradients.
          if (communicators().front().size() > 2 && (turn++ % 4 + static_cast<int>(where)) % 3 != 0) continue;
          ReducerOptions options;
          options.average_active = active;
          options.op = op;
          run_epochs<float>(comm, options, where, [](int rank) { return 2 + rank; });
          run_epochs<double>(comm, options, where, [&](int rank) { return comm.size() - rank; });
        }
}

TEST(Join, RanksWithoutAnyStep) {
  const Communicator& comm = communicators()[0];
  for (const int lonely : {0, comm.size() - 1})
    run_epochs<float>(comm, {}, Where::both, [lonely](int rank) { return rank == lonely ? 3 : 0; });
  run_epochs<float>(comm, {}, Where::both, [](int) { return 0; });
}

TEST(Join, WithTheOtherOptions) {
  const Communicator& comm = communicators()[0];
  for (unsigned bits = 0; bits < 8; ++bits) {
    ReducerOptions options;
    options.find_unused = (bits & 1U) != 0;
    options.check = (bits & 2U) != 0;
    options.communicators = (bits & 4U) != 0 ? 2 : 1;
    options.average_active = true;
    run_epochs<float>(comm, options, Where::both, [](int rank) { return 1 + 2 * rank; });
  }
}

TEST(Join, ASmallTypeIsDividedToo) {
  ReducerOptions options;
  options.average_active = true;
  run_epochs<bfloat16_t>(communicators()[0], options, Where::bucket, [](int rank) { return 1 + rank; });
}

TEST(Join, LearnsOfTheOthersFaults) {
  const Communicator& comm = communicators()[0];
  if (comm.size() == 1) GTEST_SKIP() << "another rank";
  ReducerOptions options;
  options.uneven = true;
  Model<float> model(comm, options, Where::both);
  const std::string text = common_error(comm, ErrorCode::invalid_argument, [&] {
    if (comm.rank() == 0) {
      model.backward(0, {2});
      model.reducer().wait();
    } else {
      (void)model.reducer().join();
    }
  });
  EXPECT_NE(text.find("parameter 2 ('p2')"), std::string::npos) << text;
  EXPECT_FALSE(model.reducer().join());
}

TEST(Join, IsRefusedWithinAStep) {
  ReducerOptions options;
  options.uneven = true;
  Model<float> model(communicators()[0], options, Where::bucket);
  model.backward(0);
  EXPECT_THROW((void)model.reducer().join(), Error);
  model.reducer().wait();
  model.expect_all(0);
}

}  // namespace
}  // namespace tutti::test
