// SPDX-License-Identifier: BSD-3-Clause
// Faults: the same named error on every rank, no hang, and a reducer that works in the next step.
#include "mpi/training/reducer_model.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators()[0]; }
int last_rank() { return world().size() - 1; }
std::string on_rank(int rank) { return "rank " + std::to_string(rank); }

void expect_contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

template <typename Change>
std::string registration_error(const Change& change, ReducerOptions options = {}) {
  std::vector<Parameter> parameters(4);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].name = "layer" + std::to_string(i);
    parameters[i].shape = {i + 2, 3};
  }
  if (world().rank() == last_rank()) change(parameters, options);
  GradientReducer reducer(world(), options);
  for (Parameter& p : parameters) reducer.add(p);
  return common_error(world(), ErrorCode::mismatch, [&] { reducer.prepare(); });
}

TEST(Registration, TheFirstDifferenceIsNamedOnEveryRank) {
  if (world().size() == 1) GTEST_SKIP() << "ranks to differ";
  using All = std::vector<Parameter>;
  expect_contains(registration_error([](All& p, ReducerOptions&) {
                    p[2].shape = {5, 3};
                  }),
                  {"parameter 2", "layer2", "[4, 3]", "[5, 3]", "rank 0", on_rank(last_rank()), "register the same"});
  expect_contains(registration_error([](All& p, ReducerOptions&) { p[1].name = "other"; }), {"'layer1'", "'other'"});
  expect_contains(registration_error([](All& p, ReducerOptions&) { p[3].type = DatatypeKind::float64; }),
                  {"parameter 3", "float32", "float64"});
  expect_contains(registration_error([](All& p, ReducerOptions&) { p.pop_back(); }), {"parameter 3", "not registered"});
  expect_contains(registration_error([](All& p, ReducerOptions&) { p.clear(); }), {"parameter 0", "not registered"});
  expect_contains(registration_error([](All& p, ReducerOptions&) { p.push_back(p[0]); }),
                  {"parameter 4", "not registered on rank 0"});
  static float value = 0;
  expect_contains(registration_error([](All& p, ReducerOptions&) { p[0].value = &value; }),
                  {"parameter 0", "without a value"});
}

TEST(Registration, OptionsAreComparedToo) {
  if (world().size() == 1) GTEST_SKIP() << "ranks to differ";
  using All = std::vector<Parameter>;
  expect_contains(registration_error([](All&, ReducerOptions& o) { o.bucket_bytes = 7; }),
                  {"option bucket_bytes", "26214400", "7"});
  expect_contains(registration_error([](All&, ReducerOptions& o) { o.find_unused = true; }), {"find_unused", "true"});
  expect_contains(registration_error([](All&, ReducerOptions& o) { o.communicators = 2; }), {"communicators"});
  expect_contains(registration_error([](All&, ReducerOptions& o) { o.hook = bf16_hook(); }),
                  {"option hook", "allreduce", "bf16"});
}

TEST(Registration, OfSeveralDifferencesTheFirstIsNamed) {
  if (world().size() < 3) GTEST_SKIP() << "two ranks that differ from rank 0";
  GradientReducer reducer(world());
  for (std::size_t i = 0; i < 5; ++i) {
    Parameter p;
    p.name = "p";
    // Rank 1 differs in parameter 3, all after it in parameter 2.
    const bool differs = world().rank() == 1 ? i == 3 : world().rank() > 1 && i == 2;
    p.shape = {differs ? std::size_t{9} : std::size_t{1}};
    reducer.add(p);
  }
  expect_contains(common_error(world(), ErrorCode::mismatch, [&] { reducer.prepare(); }), {"parameter 2", "rank 2"});
}

/// Runs a step with a fault, then steps without.
template <typename Misuse>
std::string step_error(ReducerOptions options, Where where, const Misuse& misuse) {
  options.bucket_bytes = 3'000;
  Model<float> model(world(), options, where);
  std::string text;
  for (int step = 0; step < 4; ++step) {
    if (step % 2 == 0) {
      model.backward(step);
      model.reducer().wait();
      model.expect_all(step);
    } else {
      misuse(model, step);
      text = common_error(world(), ErrorCode::invalid_argument, [&] { model.reducer().wait(); });
    }
  }
  return text;
}

constexpr Where places[] = {Where::bucket, Where::caller, Where::both};

template <typename Call>
void expect_local(const Call& call, ErrorCode code, const std::vector<std::string>& parts) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    expect_contains(e.what(), parts);
  }
}

TEST(Faults, ReadyTwice) {
  for (const Where where : places)
    expect_contains(step_error({}, where,
                               [](Model<float>& model, int step) {
                                 if (world().rank() == last_rank()) {
                                   model.fill(5, step);
                                   model.reducer().ready(5);
                                 }
                                 model.backward(step);
                               }),
                    {"parameter 5 ('p5')", on_rank(last_rank()), "twice", "once a step"});
}

TEST(Faults, Missing) {
  for (const Where where : places)
    expect_contains(step_error({}, where,
                               [](Model<float>& model, int step) {
                                 if (world().rank() == last_rank())
                                   model.backward(step, {8, 11});
                                 else
                                   model.backward(step);
                               }),
                    {"parameter 8 ('p8')", on_rank(last_rank()), "without ready()", "find_unused"});
}

TEST(Faults, NothingMarkedAtAll) {
  expect_contains(step_error({}, Where::bucket,
                             [](Model<float>& model, int step) {
                               if (world().rank() != last_rank()) model.backward(step);
                             }),
                  {"parameter 0 ('p0')", on_rank(last_rank())});
}

TEST(Faults, OutOfRange) {
  for (const std::size_t first : {0U, 1U})
    for (const std::size_t i : {std::size_t{13}, ~std::size_t{0}}) {
      ReducerOptions options;
      options.first_number = first;
      const std::string called = i == 13 ? "ready(" + std::to_string(13 + first) + ")" : "ready(a negative number";
      const std::string at_once = i == 13 ? called : first == 0 ? "ready(-1)" : "ready(0)";
      expect_contains(step_error(options, Where::both,
                                 [&](Model<float>& model, int step) {
                                   model.backward(step);
                                   if (world().rank() != last_rank()) return;
                                   // Here at once, and below, from wait(), on all ranks.
                                   expect_local([&] { model.reducer().ready(i); }, ErrorCode::index_out_of_range,
                                                {at_once, "13 parameters"});
                                 }),
                      {called, "13 parameters", on_rank(last_rank())});
    }
}

TEST(Faults, OfSeveralRanksAllNameOne) {
  const std::string text = step_error({}, Where::both, [](Model<float>& model, int step) {
    model.backward(step, {static_cast<std::size_t>(3 + world().rank())});
  });
  expect_contains(text, {"rank 0", "parameter 3"});
}

TEST(Faults, ChangedAfterReady) {
  ReducerOptions options;
  options.check = true;
  for (const Where where : places)
    for (const bool at_once : {true, false}) {
      // Before the bucket is launched, since others in it are not ready, or after.
      const std::string text = step_error(options, where, [at_once](Model<float>& model, int step) {
        if (world().rank() == last_rank() && at_once) {
          model.fill(6, step);
          model.reducer().ready(6);
          model.gradient(6)[1'001] += 1;
          for (std::size_t i = 0; i < model.size(); ++i) {
            if (i == 6) continue;
            model.fill(i, step);
            model.reducer().ready(i);
          }
        } else {
          model.backward(step);
          if (world().rank() == last_rank()) model.gradient(6)[2'002] += 1;
        }
      });
      expect_contains(text, {"parameter 6 ('p6')", on_rank(last_rank()), "changed", "after the last change"});
    }
}

TEST(Arguments, AreCheckedWhereTheyAreGiven) {
  constexpr ErrorCode invalid = ErrorCode::invalid_argument;
  ReducerOptions options;
  options.op = ReduceKind::max;
  expect_local([&] { GradientReducer(world(), options); }, invalid, {"op", "max", "avg or sum"});
  options = {};
  options.communicators = 0;
  expect_local([&] { GradientReducer(world(), options); }, invalid, {"communicators"});
  GradientReducer reducer(world());
  Parameter p;
  p.name = "indices";
  p.type = DatatypeKind::int32;
  expect_local([&] { reducer.add(p); }, invalid, {"indices", "int32", "float32"});
  expect_local([&] { reducer.ready(0); }, invalid, {"prepare()"});
  expect_local([&] { reducer.wait(); }, invalid, {"prepare()"});
  expect_local([&] { (void)reducer.gradient(0); }, invalid, {"prepare()"});
  expect_local([&] { (void)reducer.save(); }, invalid, {"prepare()"});
  p.type = DatatypeKind::float32;
  reducer.add(p);
  reducer.prepare();
  expect_local([&] { reducer.prepare(); }, invalid, {"prepare()"});
  expect_local([&] { reducer.add(p); }, invalid, {"indices", "already"});
  expect_local([&] { (void)reducer.gradient(1); }, ErrorCode::index_out_of_range, {"gradient(1)", "1 parameters"});
  expect_local([&] { (void)reducer.used(1); }, ErrorCode::index_out_of_range, {"used(1)"});
  expect_local([&] { (void)reducer.parameter(1); }, ErrorCode::index_out_of_range, {"parameter(1)"});
  expect_local([&] { (void)reducer.join(); }, invalid, {"uneven"});
  *static_cast<float*>(reducer.gradient(0).data) = 1;
  reducer.ready(0);
  expect_local([&] { reducer.set_sync(false); }, invalid, {"within a step"});
  expect_local([&] { (void)reducer.save(); }, invalid, {"within a step"});
  reducer.wait();
  EXPECT_EQ(*static_cast<float*>(reducer.gradient(0).data), 1);
}

TEST(Failures, AReductionThatTimesOutIsThrownByWaitAndEver) {
  if (world().size() == 1) GTEST_SKIP() << "a rank to wait for";
  CommunicatorOptions impatient;
  impatient.timeout = std::chrono::milliseconds(200);
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, impatient);
  Model<float> model(comm, {}, Where::bucket);
  if (comm.rank() == 0) {
    model.backward(0);
    for (int k = 0; k < 2; ++k) expect_local([&] { model.reducer().wait(); }, ErrorCode::timeout, {"not complete"});
    expect_local([&] { model.reducer().ready(0); }, ErrorCode::timeout, {"not complete"});
  }
  barrier(world());
}

}  // namespace
}  // namespace tutti::test
