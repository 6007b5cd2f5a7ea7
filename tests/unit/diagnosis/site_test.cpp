// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/site.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diagnosis/place.hpp"

namespace tutti::detail {
namespace {

SiteRecord given(const char* file, int line, const char* function) {
  want_sites();
  set_site(file, line, function);
  return record_of(take_site());
}

TEST(Site, WordsHaveFileLineAndFunction) {
  EXPECT_EQ(words(given("/home/me/heat.c", 41, "step")), "at heat.c:41 in step()");
  EXPECT_EQ(words(given("heat.c", 41, nullptr)), "at heat.c:41");
  EXPECT_EQ(words(given("heat.cpp", 1, "operator()")), "at heat.cpp:1 in operator()");
  EXPECT_EQ(words(given("heat.cpp", 1, "std::f<void (int)>::g(int)")), "at heat.cpp:1 in std::f<void (int)>::g()");
  EXPECT_EQ(words(SiteRecord{}), "");
}

TEST(Site, ALongPathKeepsItsEnd) {
  const std::string path = "/" + std::string(500, 'x') + "/heat.c";
  EXPECT_EQ(words(given(path.c_str(), 7, "f")), "at heat.c:7 in f()");
}

TEST(Site, APlaceServesOneCall) {
  EXPECT_EQ(given("heat.c", 41, "step").line, 41);
  const CallSite next = take_site();
  EXPECT_EQ(next.file, nullptr);
  EXPECT_GT(next.frame_count, 0U);
  EXPECT_NE(next.address, nullptr);
}

TEST(Place, PairsOfLinesAreRead) {
  const auto places = parse_places(
      "tutti::f(int)\n/a/b.hpp:12\nheat::step()\n/a/heat.cpp:41 (discriminator 3)\n??\n??:0\n"
      "main\n/a/heat.cpp:?\n");
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[1].function, "heat::step()");
  EXPECT_EQ(places[1].file, "/a/heat.cpp");
  EXPECT_EQ(places[1].line, 41);
  EXPECT_EQ(places[2].file, "");
  EXPECT_EQ(first_of_program(places)->function, "heat::step()");
  EXPECT_TRUE(parse_places("").empty());
  EXPECT_EQ(first_of_program({}), nullptr);
}

TEST(Place, FunctionsOfTheLibraryAreKnownByTheirNames) {
  for (const std::string_view name :
       {"tutti::allreduce(tutti::Communicator const&)", "void tutti::f<int>(int)", "tutti_allreduce",
        "__tutti_MOD_allreduce_real32", "guard<tutti_bcast(tutti_comm_t)::<lambda()> >(<lambda()>)"})
    EXPECT_TRUE(is_of_library(name)) << name;
  for (const std::string_view name :
       {"main", "heat::step(tutti::Communicator const&)", "my_tutti_step", "MAIN__", "mytutti::f()"})
    EXPECT_FALSE(is_of_library(name)) << name;
}

}  // namespace
}  // namespace tutti::detail
