// SPDX-License-Identifier: BSD-3-Clause
#include "call/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tutti::test {
namespace {

using detail::shm::Segment;

constexpr std::size_t bytes = 100'000;

bool exists(const std::string& name) { return access(("/dev/shm" + name).c_str(), F_OK) == 0; }

TEST(Segment, TwoMappingsAreOneMemory) {
  std::string name;
  std::string problem;
  Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  const Segment opened = Segment::open(name, bytes, problem);
  ASSERT_TRUE(opened.valid()) << problem;
  EXPECT_TRUE(std::all_of(opened.data(), opened.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
  made.data()[bytes - 1] = std::byte{42};
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{42});
  Segment::remove(name);
  EXPECT_FALSE(exists(name));
  made.data()[0] = std::byte{7};
  EXPECT_EQ(opened.data()[0], std::byte{7}) << "the mappings stay";
  EXPECT_FALSE(Segment::open(name, bytes, problem).valid());
  EXPECT_NE(problem.find("No such file"), std::string::npos) << problem;
}

TEST(Segment, OnlyTheOwnerMayOpenIt) {
  std::string name;
  std::string problem;
  const mode_t before = umask(0);
  Segment made = Segment::create(bytes, name, problem);
  umask(before);
  ASSERT_TRUE(made.valid()) << problem;
  struct stat found {};
  ASSERT_EQ(stat(("/dev/shm" + name).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_EQ(found.st_uid, geteuid());
  Segment::remove(name);
}

std::size_t reserved_bytes(const std::string& name) {
  struct stat found {};
  EXPECT_EQ(stat(("/dev/shm" + name).c_str(), &found), 0);
  return static_cast<std::size_t>(found.st_blocks) * 512;
}

TEST(Segment, OnlyTheReservedPartTakesMemory) {
  constexpr std::size_t part = 64 * 4096;
  std::string name;
  std::string problem;
  Segment made = Segment::create(16 * part, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  EXPECT_EQ(reserved_bytes(name), 0U);
  EXPECT_TRUE(made.reserve(name, part, part, problem)) << problem;
  EXPECT_EQ(reserved_bytes(name), part);
  if (made.can_reserve_later()) {
    EXPECT_TRUE(made.reserve_later(4 * part, 2 * part, problem)) << problem;
    EXPECT_EQ(reserved_bytes(name), 3 * part);
  }
  Segment::remove(name);
}

TEST(Segment, NamesHave128RandomBits) {
  std::string problem;
  std::string first;
  std::string second;
  const Segment a = Segment::create(bytes, first, problem);
  const Segment b = Segment::create(bytes, second, problem);
  Segment::remove(first);
  Segment::remove(second);
  ASSERT_EQ(first.size(), std::strlen("/tutti-") + 32);
  ASSERT_EQ(second.size(), first.size());
  std::size_t equal = 0;
  for (std::size_t i = 7; i < first.size(); ++i) equal += first[i] == second[i] ? 1 : 0;
  // Two random digits are equal once in 16 times: 20 of 32 has a probability below 1e-14.
  EXPECT_LT(equal, 20U);
}

TEST(Segment, MoreThanThereIsRoomForIsAProblemInWords) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) GTEST_SKIP() << "no /dev/shm";
  const std::size_t all = room.f_frsize * room.f_blocks;
  if (all > (std::size_t{1} << 44U)) GTEST_SKIP() << "/dev/shm has no bound";
  std::string name;
  std::string problem;
  // Far beyond it, so that the file system refuses at once, without filling up first.
  const Segment made = Segment::create(std::size_t{1} << 50U, name, problem);
  EXPECT_FALSE(made.valid());
  EXPECT_NE(problem.find("/dev/shm"), std::string::npos) << problem;
  EXPECT_EQ(name, "") << "nothing to open or to remove";
}

// The kernel would end the process by SIGXFSZ.
TEST(Segment, AFileSizeLimitIsAProblemInWords) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  std::string name;
  std::string problem;
  const Segment made = Segment::create(bytes, name, problem);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(made.valid());
  EXPECT_NE(problem.find("File too large"), std::string::npos) << problem;
  EXPECT_EQ(name, "") << "nothing to open or to remove";
}

TEST(Segment, AShorterOneIsRefused) {
  std::string name;
  std::string problem;
  const Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  EXPECT_FALSE(Segment::open(name, 2 * bytes, problem).valid());
  EXPECT_NE(problem.find("too short"), std::string::npos) << problem;
  Segment::remove(name);
}

TEST(Segment, MovesItsMemory) {
  std::string name;
  std::string problem;
  Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  Segment::remove(name);
  std::byte* data = made.data();
  Segment moved = std::move(made);
  EXPECT_FALSE(made.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.data(), data);
  Segment other;
  other = std::move(moved);
  EXPECT_EQ(other.data(), data);
}

}  // namespace
}  // namespace tutti::test
