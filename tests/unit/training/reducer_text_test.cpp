// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "training/reducer/bucket_set.hpp"
#include "training/reducer/fault.hpp"
#include "training/reducer/registration.hpp"

namespace tutti::detail::reducer {
namespace {

std::vector<Parameter> parameters() {
  std::vector<Parameter> all(3);
  all[0].name = "conv.weight";
  all[0].shape = {64, 3, 7, 7};
  all[1].name = "conv.bias";
  all[1].shape = {64};
  all[2].name = "scale";
  all[2].type = DatatypeKind::bfloat16;
  return all;
}

TEST(Map, IsATableOfBuckets) {
  const auto all = parameters();
  std::vector<GradientBucket> buckets(2);
  buckets[0].data = Buffer(nullptr, 1, DatatypeKind::bfloat16);
  buckets[0].entries = {{2, 0, 1, all[2].shape}};
  buckets[1].index = 1;
  buckets[1].data = Buffer(nullptr, 9472, DatatypeKind::float32);
  buckets[1].entries = {{1, 0, 64, all[1].shape}, {0, 64, 9408, all[0].shape}};
  EXPECT_EQ(map_text(buckets, all, 0),
            "bucket         bytes  type      parameters\n"
            "     0             2  bfloat16  2 scale []\n"
            "     1         37888  float32   1 conv.bias [64]\n"
            "                                0 conv.weight [64, 3, 7, 7]\n");
  EXPECT_NE(map_text(buckets, all, 1).find("3 scale []\n"), std::string::npos) << map_text(buckets, all, 1);
}

TEST(Fault, TravelsAsANumber) {
  using Kind = Fault::Kind;
  for (const Kind kind : {Kind::missing, Kind::changed, Kind::twice, Kind::out_of_range})
    for (const int rank : {0, 1, 4'711, 16'000'000})
      for (const std::size_t parameter : {std::size_t{0}, std::size_t{161}, std::size_t{0xFFFFFFFF}}) {
        const Fault sent{kind, rank, parameter};
        EXPECT_GT(sent.word(), 0);
        const Fault got = Fault::from_word(sent.word());
        EXPECT_EQ(got.kind, kind);
        EXPECT_EQ(got.rank, rank);
        EXPECT_EQ(got.parameter, parameter);
      }
  EXPECT_EQ(Fault{}.word(), 0);
  EXPECT_FALSE(Fault::from_word(0));
  EXPECT_GT((Fault{Kind::twice, 1, 0}.word()), (Fault{Kind::twice, 2, 9}.word())) << "the lowest rank is named";
  EXPECT_EQ(Fault::from_word(Fault{Kind::out_of_range, 0, std::size_t{1} << 40U}.word()).parameter, 0xFFFFFFFFU);
}

std::string text_of(const Fault& fault, std::size_t first_number = 0) {
  try {
    fault.throw_as_error(parameters(), first_number);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return "";
}

TEST(Fault, NamesParameterRankAndRemedy) {
  using Kind = Fault::Kind;
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(
      text_of({Kind::missing, 3, 1}),
      "gradient reducer: rank 3 called wait() without ready() for parameter 1 ('conv.bias'); call ready(i) once a "
      "step for each parameter, or set the option find_unused");
  EXPECT_EQ(text_of({Kind::twice, 0, 2}),
            "gradient reducer: rank 0 marked parameter 2 ('scale') ready twice in one step; call ready(i) once a step "
            "for each parameter");
  EXPECT_EQ(text_of({Kind::changed, 1, 0}),
            "gradient reducer: on rank 1 the gradient of parameter 0 ('conv.weight') changed between ready() and "
            "wait(); call ready(i) after the last change");
  EXPECT_EQ(text_of({Kind::out_of_range, 1, 3}),
            "gradient reducer: rank 1 called ready(3), but there are 3 parameters; pass a number that add() returned");
}

TEST(Fault, NumbersParametersAsTheCallersLanguage) {
  using Kind = Fault::Kind;
  EXPECT_NE(text_of({Kind::missing, 0, 1}, 1).find("parameter 2 ('conv.bias')"), std::string::npos);
  EXPECT_NE(text_of({Kind::out_of_range, 0, 8}, 1).find("ready(9)"), std::string::npos);
  const Fault zero = Fault::from_word(Fault{Kind::out_of_range, 0, ~std::size_t{0}}.word());  // 0 in Fortran
  EXPECT_NE(text_of(zero, 1).find("ready(a negative number, or one of more than 32 bits)"), std::string::npos)
      << text_of(zero, 1);
}

TEST(Facts, TheFirstDifferenceIsNamedWithBothSides) {
  const auto here = parameters();
  auto there = here;
  const ReducerOptions options;
  EXPECT_EQ(facts_of(options, here), facts_of(options, there));
  there[1].shape = {65};
  there[2].name = "other";
  const std::string advice = "; register the same parameters in the same order, with the same options, on all ranks";
  EXPECT_EQ(difference_text(facts_of(options, here), facts_of(options, there), 2),
            "gradient reducer: parameter 1 is 'conv.bias' float32 [64] without a value on rank 0, but 'conv.bias' "
            "float32 [65] without a value on rank 2" +
                advice);
  there = here;
  there.pop_back();
  EXPECT_EQ(
      difference_text(facts_of(options, here), facts_of(options, there), 1),
      "gradient reducer: parameter 2 is 'scale' bfloat16 [] without a value on rank 0, but not registered on rank "
      "1" +
          advice);
  EXPECT_EQ(
      difference_text(facts_of(options, there), facts_of(options, here), 1),
      "gradient reducer: parameter 2 is not registered on rank 0, but 'scale' bfloat16 [] without a value on rank "
      "1" +
          advice);
}

TEST(Facts, EveryOptionThatMustBeEqualIsOne) {
  const ReducerOptions usual;
  const auto changes = std::vector<std::pair<std::string, void (*)(ReducerOptions&)>>{
      {"option bucket_bytes", [](ReducerOptions& o) { o.bucket_bytes = ReducerOptions::automatic; }},
      {"option first_bucket_bytes", [](ReducerOptions& o) { o.first_bucket_bytes = 7; }},
      {"option op", [](ReducerOptions& o) { o.op = ReduceKind::sum; }},
      {"option rebuild", [](ReducerOptions& o) { o.rebuild = false; }},
      {"option find_unused", [](ReducerOptions& o) { o.find_unused = true; }},
      {"option uneven", [](ReducerOptions& o) { o.uneven = true; }},
      {"option average_active", [](ReducerOptions& o) { o.average_active = true; }},
      {"option check", [](ReducerOptions& o) { o.check = true; }},
      {"option blocks", [](ReducerOptions& o) { o.blocks = 2; }},
      {"option communicators", [](ReducerOptions& o) { o.communicators = 2; }},
      {"option hook", [](ReducerOptions& o) { o.hook = fp16_hook(); }}};
  for (const auto& [subject, change] : changes) {
    ReducerOptions changed;
    change(changed);
    const auto facts = facts_of(changed, {});
    EXPECT_EQ(facts[first_difference(facts_of(usual, {}), facts)].subject, subject);
  }
  ReducerOptions threaded;
  threaded.progress_thread = true;
  EXPECT_EQ(facts_of(usual, {}), facts_of(threaded, {}));
}

TEST(Facts, ArePackedWhateverTheNamesAre) {
  const std::vector<Fact> facts{{"a", ""}, {"", std::string("x\0y\n", 4)}, {"parameter 1", "'…' []"}};
  EXPECT_EQ(unpack(pack(facts)), facts);
  EXPECT_TRUE(unpack(pack({})).empty());
}

}  // namespace
}  // namespace tutti::detail::reducer
