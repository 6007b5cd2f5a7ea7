// SPDX-License-Identifier: BSD-3-Clause
#include "planner/format.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "core/hash.hpp"
#include "example.hpp"

namespace tutti::detail::tuning {
namespace {

using Json = nlohmann::json;
using test::example;

std::string refusal(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io);
    return e.what();
  }
  return {};
}

/// A document whose checksum is right, so that what else is wrong with it is found.
std::string with(const std::function<void(Json&)>& change) {
  Json document = Json::parse(print(example()));
  change(document);
  if (document.is_object() && document.contains("tables"))
    document["checksum"] = fmt::format("{:016x}", hash(document["tables"].dump()));
  return document.dump();
}

TEST(TableFormat, RoundTrips) {
  EXPECT_EQ(parse(print(example())), example());
  EXPECT_EQ(print(parse(print(example()))), print(example()));
  EXPECT_EQ(parse(print({})), std::vector<Section>{});
}

TEST(TableFormat, RefusesLinksThatAreNone) {
  const auto links_with = [](const std::function<void(Json&)>& change) {
    return refusal(with([&](Json& document) { change(document["tables"][0]["links"]); }));
  };
  EXPECT_EQ(links_with([](Json&) {}), "");
  EXPECT_NE(links_with([](Json& links) { links = Json::array(); }), "");
  EXPECT_NE(links_with([](Json& links) { links["moon"] = links["cache"]; }).find("moon"), std::string::npos);
  EXPECT_NE(links_with([](Json& links) { links["cache"].erase("latency"); }).find("latency"), std::string::npos);
  EXPECT_NE(links_with([](Json& links) { links["cache"]["rate"] = 0; }).find("cache"), std::string::npos);
  EXPECT_NE(links_with([](Json& links) { links["cache"]["overhead"] = -1; }).find("overhead"), std::string::npos);
}

TEST(TableFormat, LongMessagesMayBeMissing) {
  const std::string without = with([](Json& document) {
    for (const char* figure : {"long_latency", "eager"}) document["tables"][0]["links"]["cache"].erase(figure);
  });
  std::vector<Section> expected = example();
  Link& link = (*expected[0].links)[LinkLevel::cache];
  link.long_latency = link.eager = 0;
  EXPECT_EQ(parse(without), expected);
  const std::string one = with([](Json& document) { document["tables"][0]["links"]["cache"].erase("long_latency"); });
  EXPECT_NE(refusal(one).find("one of 'eager'"), std::string::npos);
}

TEST(TableFormat, RatesOfOneDirectionMayBeMissing) {
  const std::string without = with([](Json& document) {
    for (const char* figure : {"one_way_rate", "passing_rate"}) document["tables"][0]["links"]["cache"].erase(figure);
  });
  std::vector<Section> expected = example();
  Link& link = (*expected[0].links)[LinkLevel::cache];
  link.one_way_rate = link.passing_rate = 0;
  EXPECT_EQ(parse(without), expected);
}

TEST(TableFormat, AFabricMayBeMissing) {
  const std::string without = with([](Json& document) { document["tables"][0].erase("fabric"); });
  std::vector<Section> expected = example();
  expected[0].links->fabric = {};
  EXPECT_EQ(parse(without), expected);
  EXPECT_EQ(print(expected).find("fabric"), std::string::npos);
}

TEST(TableFormat, FiguresByGroupMayBeThere) {
  std::vector<Section> expected = example();
  expected[0].links->fabric.by_group = {{{1e-6, 0, 0}, {2e-6, 16e9, 0}, {3e-6, 16e9, 8e9}}};
  expected[0].links->fabric.within_group = 9e9;
  EXPECT_EQ(parse(print(expected)), expected);
  EXPECT_EQ(print(example()).find("within_group"), std::string::npos);
}

TEST(TableFormat, RefusesFiguresByGroupThatAreNone) {
  const auto groups_of = [](const Json& groups) {
    return refusal(with([&](Json& document) {
      document["tables"][0]["fabric"]["groups"] = groups;
      document["tables"][0]["fabric"]["within_group"] = 9e9;
    }));
  };
  const Json group = {{"latency", 1e-6}, {"between", 1e9}, {"leaving", 0}};
  EXPECT_EQ(groups_of(Json(std::vector<Json>(5, group))), "");
  for (const Json& groups :
       {Json(3), Json::array(), Json(std::vector<int>{1}), Json(std::vector<Json>(6, group)),
        Json({{{"latency", 1e-6}, {"between", 1e9}}}), Json({{{"latency", -1}, {"between", 1e9}, {"leaving", 0}}})})
    EXPECT_NE(groups_of(groups), "") << groups;
  EXPECT_NE(refusal(with([&](Json& document) { document["tables"][0]["fabric"]["groups"] = {group}; })), "");
}

TEST(TableFormat, RefusesAFabricThatIsNone) {
  const auto fabric_with = [](const std::function<void(Json&)>& change) {
    return refusal(with([&](Json& document) { change(document["tables"][0]["fabric"]); }));
  };
  EXPECT_EQ(fabric_with([](Json&) {}), "");
  EXPECT_NE(fabric_with([](Json& fabric) { fabric = 3; }).find("fabric"), std::string::npos);
  EXPECT_NE(fabric_with([](Json& fabric) { fabric.erase("everywhere"); }).find("everywhere"), std::string::npos);
  EXPECT_NE(fabric_with([](Json& fabric) { fabric["everywhere"] = 0; }).find("is 0"), std::string::npos);
  for (const Json& distances : {Json(3), Json::array(), Json(std::vector<int>{1}),
                                Json(std::vector<Json>(25, {{"latency", 1e-6}, {"rate", 1e9}})),
                                Json(std::vector<Json>(2, {{"latency", 1e-6}, {"rate", 0}})),
                                Json(std::vector<Json>(2, {{"latency", -1e-6}, {"rate", 1e9}}))})
    EXPECT_NE(fabric_with([&](Json& fabric) { fabric["distances"] = distances; }), "") << distances;
  EXPECT_NE(refusal(with([](Json& document) { document["tables"][0].erase("links"); })).find("without links"),
            std::string::npos);
}

TEST(TableFormat, RefusesEveryTruncation) {
  const std::string text = print(example());
  ASSERT_EQ(text.back(), '\n');
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_NE(refusal(text.substr(0, length)), "") << "of the first " << length << " bytes";
}

TEST(TableFormat, RefusesEveryDamagedByte) {
  const std::string text = print(example());
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const unsigned bit : {1U, 2U, 16U, 128U}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ bit);
      // What is between the members means nothing: there damage may change nothing, and nothing else.
      if (refusal(damaged).empty()) {
        EXPECT_EQ(parse(damaged), example()) << "byte " << i << ", bit " << bit;
      }
    }
}

TEST(TableFormat, RefusesWhatIsForeign) {
  EXPECT_NE(refusal(with([](Json& d) { d["version"] = 2; })).find("version 2"), std::string::npos);
  EXPECT_NE(refusal(with([](Json& d) { d["library"] = "9.8.7"; })).find("tutti 9.8.7"), std::string::npos);
  EXPECT_NE(refusal(with([](Json& d) { d["format"] = "something"; })), "");
  EXPECT_NE(refusal(with([](Json& d) { d.erase("tables"); })).find("tables"), std::string::npos);
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("{\"losses\": [1, 2]}"), "");
}

TEST(TableFormat, RefusesFiguresThatCannotBe) {
  const auto cell = [](auto change) { return refusal(with([&](Json& d) { change(d["tables"][0]["cells"][0]); })); };
  EXPECT_NE(cell([](Json& c) { c["operation"] = "allreduces"; }).find("operation"), std::string::npos);
  EXPECT_NE(cell([](Json& c) { c["call"] = 1; }).find("call"), std::string::npos);
  EXPECT_NE(cell([](Json& c) { c["arithmetic"] = "exact"; }).find("class of datatypes"), std::string::npos);
  EXPECT_NE(cell([](Json& c) { c["element_bytes"] = 0; }), "");
  EXPECT_NE(cell([](Json& c) { c["bytes"] = -1; }), "");
  EXPECT_NE(cell([](Json& c) { c["bytes"] = 1.5; }), "");
  EXPECT_NE(cell([](Json& c) { c["bytes"] = 18'446'744'073'709'551'615ULL; }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"] = Json::object(); }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"]["native"] = 0; }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"]["native"] = -1e-6; }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"]["native"] = "fast"; }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"]["native"] = 1e300; }), "");
  EXPECT_NE(cell([](Json& c) { c["seconds"][std::string(10'000, 'x')] = 1e-6; }), "");
  EXPECT_NE(refusal(with([](Json& d) { d["tables"][0]["cells"].push_back(d["tables"][0]["cells"][0]); })).find("twice"),
            std::string::npos);
  EXPECT_NE(refusal(with([](Json& d) { d["tables"][0]["machine"]["ranks"] = 0; })), "");
  EXPECT_NE(refusal(with([](Json& d) { d["tables"][0]["machine"]["ranks_per_node"] = "2"; })), "");
  EXPECT_NE(refusal(with([](Json& d) { d["tables"][0]["machine"].erase("cpu"); })).find("cpu"), std::string::npos);
}

TEST(TableFormat, RefusesDeepNestingBeforeItTakesMemory) {
  EXPECT_NE(refusal(std::string(1'000'000, '[')).find("nested"), std::string::npos);
  std::string members;
  for (int i = 0; i < 100'000; ++i) members += "{\"a\":";
  EXPECT_NE(refusal(members).find("nested"), std::string::npos);
}

TEST(MachineKey, TellsWhatDiffers) {
  const Key here = example()[0].key;
  EXPECT_EQ(difference(here, here), "");
  Key other = here;
  other.cpu = "B";
  EXPECT_NE(difference(other, here).find("processor 'B'"), std::string::npos);
  other = here;
  other.mpi = "Open MPI";
  EXPECT_NE(difference(other, here).find("Open MPI"), std::string::npos);
  other = here;
  other.ranks = 4;
  EXPECT_NE(difference(other, here).find("4 ranks"), std::string::npos);
  other = here;
  other.ranks_per_node = {1, 1};
  EXPECT_NE(difference(other, here).find("1+1"), std::string::npos);
  other = here;
  other.cores_per_node = {64};
  EXPECT_NE(difference(other, here).find("64 cores"), std::string::npos);
}

}  // namespace
}  // namespace tutti::detail::tuning
