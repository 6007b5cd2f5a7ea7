// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/site.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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

using Taker = CallSite (*)();

__attribute__((noinline)) CallSite taken_here() {
  CallSite site = take_site();
  asm volatile("" : : "r"(&site) : "memory");  // no tail call
  return site;
}

__attribute__((noinline)) CallSite taken_there() {
  CallSite site = take_site();
  asm volatile("" : : "r"(&site) : "memory");
  return site;
}

/// As deep as asked, with a frame of a size that is known when it runs only.
__attribute__((noinline)) CallSite taken_below(int depth, Taker take) {
  volatile char* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(16 * depth + 16)));
  room[0] = 1;
  CallSite site = depth == 0 ? take() : taken_below(depth - 1, take);
  room[0] = 2;
  return site;
}

bool same_frames(const CallSite& a, const CallSite& b) {
  return a.frame_count == b.frame_count && a.frames == b.frames;
}

TEST(Site, FramesThatAreRememberedAreThoseOfTheCall) {
  const std::array<Taker, 2> takers = {taken_here, taken_there};
  std::map<std::pair<int, std::size_t>, CallSite> first;
  for (int round = 0; round < 50; ++round)
    for (int depth = 0; depth < 12; ++depth)
      for (std::size_t taker = 0; taker < takers.size(); ++taker) {
        const CallSite site = taken_below(depth, takers[taker]);
        ASSERT_GT(site.frame_count, 2U);
        const auto known = first.try_emplace({depth, taker}, site).first;
        ASSERT_TRUE(same_frames(known->second, site)) << "depth " << depth << ", taker " << taker;
      }
  const auto is_told_apart = [](const auto& entry) {
    return entry.first.first < 8;
  };  // deeper, frames are of one function
  for (auto one = first.begin(); is_told_apart(*one); ++one)
    for (auto other = std::next(one); is_told_apart(*other); ++other)
      EXPECT_FALSE(same_frames(one->second, other->second)) << one->first.first << " " << other->first.first;
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

// Debug information names a lambda without its namespace.
TEST(Place, LambdasBelongToTheirCallers) {
  const auto of_library = parse_places(
      "tutti::detail::f(int)\n/a/f.cpp:12\noperator()\n/a/call.cpp:322\noperator()\n/a/call.cpp:321\n"
      "auto tutti::detail::make<int>(int)\n/a/make.hpp:28\nstep\n/a/heat.c:13\nmain\n/a/heat.c:30\n");
  EXPECT_EQ(first_of_program(of_library)->function, "step");
  const auto of_program =
      parse_places("tutti::detail::f(int)\n/a/f.cpp:12\noperator()\n/a/heat.cpp:7\nmain\n/a/heat.cpp:9\n");
  EXPECT_EQ(first_of_program(of_program)->line, 7);
  const auto within_library = parse_places("tutti::f()\n/a/f.cpp:12\noperator()\n/a/f.cpp:7\ntutti::g()\n/a/g.cpp:9\n");
  EXPECT_EQ(first_of_program(within_library)->function, "tutti::g()");
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
