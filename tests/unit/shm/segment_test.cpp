// SPDX-License-Identifier: BSD-3-Clause
#include "call/segment.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <random>
#include <utility>

namespace tutti::test {
namespace {

using detail::shm::Segment;
using detail::shm::SegmentName;

constexpr std::size_t bytes = 100'000;

/// A kernel before Linux 5.14 under a timer that is shorter than reserving so many bytes takes.
struct OldKernel {
  bool is_used = false;
  std::size_t most_at_once = 0;
  int calls = 0;
};
OldKernel old_kernel;

}  // namespace
}  // namespace tutti::test

// The program's own functions are found before those of the C library.
extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
  using Function = int (*)(void*, size_t, int);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "madvise"));
  constexpr int populate_write = 23;
  if (tutti::test::old_kernel.is_used && advice == populate_write) {
    errno = EINVAL;
    return -1;
  }
  return next(address, bytes, advice);
}

extern "C" int posix_fallocate(int file, off_t begin, off_t bytes) {
  using Function = int (*)(int, off_t, off_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_fallocate"));
  auto& kernel = tutti::test::old_kernel;
  if (kernel.is_used && ++kernel.calls > 1000) return ETIMEDOUT;  // instead of trying for ever
  if (kernel.is_used && static_cast<std::size_t>(bytes) > kernel.most_at_once) return EINTR;
  return next(file, begin, bytes);
}

namespace tutti::test {
namespace {

bool exists(const std::string& name) { return access(("/dev/shm" + name).c_str(), F_OK) == 0; }

TEST(Segment, TwoMappingsAreOneMemory) {
  SegmentName name;
  std::string problem;
  Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  const Segment opened = Segment::open(name.text, bytes, problem);
  ASSERT_TRUE(opened.valid()) << problem;
  EXPECT_TRUE(std::all_of(opened.data(), opened.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
  made.data()[bytes - 1] = std::byte{42};
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{42});
  const std::string text = name.text;
  EXPECT_TRUE(exists(text));
  name.remove();
  EXPECT_FALSE(exists(text));
  made.data()[0] = std::byte{7};
  EXPECT_EQ(opened.data()[0], std::byte{7}) << "the mappings stay";
  EXPECT_FALSE(Segment::open(text, bytes, problem).valid());
  EXPECT_NE(problem.find("No such file"), std::string::npos) << problem;
}

TEST(Segment, OnlyTheOwnerMayOpenIt) {
  SegmentName name;
  std::string problem;
  const mode_t before = umask(0);
  Segment made = Segment::create(bytes, name, problem);
  umask(before);
  ASSERT_TRUE(made.valid()) << problem;
  struct stat found {};
  ASSERT_EQ(stat(("/dev/shm" + name.text).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_EQ(found.st_uid, geteuid());
  name.remove();
}

std::size_t reserved_bytes(const std::string& name) {
  struct stat found {};
  EXPECT_EQ(stat(("/dev/shm" + name).c_str(), &found), 0);
  return static_cast<std::size_t>(found.st_blocks) * 512;
}

TEST(Segment, OnlyTheReservedPartTakesMemory) {
  constexpr std::size_t part = 64 * 4096;
  SegmentName name;
  std::string problem;
  Segment made = Segment::create(16 * part, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  EXPECT_EQ(reserved_bytes(name.text), 0U);
  EXPECT_TRUE(made.reserve(name.text, part, part, problem)) << problem;
  EXPECT_EQ(reserved_bytes(name.text), part);
  if (made.can_reserve_later()) {
    EXPECT_TRUE(made.reserve_later(4 * part, 2 * part, problem)) << problem;
    EXPECT_EQ(reserved_bytes(name.text), 3 * part);
  }
  name.remove();
}

TEST(Segment, PagesGivenBackAreZeroWhenReservedAgain) {
  SegmentName name;
  std::string problem;
  Segment made = Segment::create(std::size_t{64} * 4096, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  if (!made.can_reserve_later()) GTEST_SKIP() << "needs Linux 5.14";
  ASSERT_TRUE(made.try_reserve(0, std::size_t{32} * 4096));
  std::memset(made.data(), 7, std::size_t{32} * 4096);
  ASSERT_TRUE(made.give_back(8 * 4096, std::size_t{16} * 4096));
  EXPECT_EQ(reserved_bytes(name.text), std::size_t{16} * 4096);
  ASSERT_TRUE(made.try_reserve(8 * 4096, std::size_t{16} * 4096));
  EXPECT_EQ(made.data()[8 * 4096 - 1], std::byte{7});
  EXPECT_EQ(made.data()[8 * 4096], std::byte{0});
  EXPECT_EQ(made.data()[24 * 4096 - 1], std::byte{0});
  EXPECT_EQ(made.data()[24 * 4096], std::byte{7});
}

TEST(Segment, ANameIsRemovedByAnException) {
  std::string text;
  try {
    SegmentName name;
    std::string problem;
    const Segment made = Segment::create(bytes, name, problem);
    text = name.text;
    ASSERT_TRUE(exists(text)) << problem;
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
    EXPECT_FALSE(exists(text));
  }
}

// An older kernel than Linux 5.14 cannot reserve mapped pages, and a timer's signals interrupt its other way: it undoes
// a call that takes longer than the timer's period.
TEST(Segment, IsReservedUnderATimerThatInterrupts) {
  constexpr std::size_t most_at_once = 300'000;
  constexpr std::size_t all = std::size_t{8} << 20U;
  SegmentName name;
  std::string problem;
  Segment made = Segment::create(all, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  old_kernel = {true, most_at_once, 0};
  const bool reserved = made.reserve(name.text, 0, all, problem);
  const int calls = old_kernel.calls;
  old_kernel = {};
  EXPECT_TRUE(reserved) << problem;
  EXPECT_LT(calls, 100);
  EXPECT_EQ(reserved_bytes(name.text), all);
}

TEST(Segment, NamesHave128RandomBits) {
  std::string problem;
  SegmentName first;
  SegmentName second;
  const Segment a = Segment::create(bytes, first, problem);
  const Segment b = Segment::create(bytes, second, problem);
  ASSERT_EQ(first.text.size(), std::strlen("/tutti-") + 32);
  ASSERT_EQ(second.text.size(), first.text.size());
  std::size_t equal = 0;
  for (std::size_t i = 7; i < first.text.size(); ++i) equal += first.text[i] == second.text[i] ? 1 : 0;
  // Two random digits are equal once in 16 times: 20 of 32 has a probability below 1e-14.
  EXPECT_LT(equal, 20U);
}

/// A file in /dev/shm that nobody has locked, a minute old.
class OldFile {
 public:
  OldFile(std::string name, mode_t mode, off_t length) : path_("/dev/shm/" + std::move(name)) {
    const int file = open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    const timespec then{std::time(nullptr) - 60, 0};
    const std::array<timespec, 2> times{then, then};
    EXPECT_TRUE(file >= 0 && fchmod(file, mode) == 0 && ftruncate(file, length) == 0) << path_;
    EXPECT_EQ(futimens(file, times.data()), 0);
    close(file);
  }
  ~OldFile() { unlink(path_.c_str()); }
  OldFile(const OldFile&) = delete;
  OldFile& operator=(const OldFile&) = delete;
  [[nodiscard]] bool is_there() const { return access(path_.c_str(), F_OK) == 0; }

 private:
  std::string path_;
};

TEST(Segment, OnlyAbandonedSegmentsAreRemoved) {
  std::random_device random;
  const auto fresh = [&] { return SegmentName::of(std::uint64_t{random()} << 32U | random(), random()).substr(1); };
  const std::string name = fresh();
  const OldFile abandoned(name, 0600, 8192);
  const OldFile begun(fresh(), 0600, 0);
  const OldFile longer(name + "0", 0600, 8192);
  const OldFile shorter(name.substr(0, name.size() - 1), 0600, 8192);
  const OldFile other_digits(name.substr(0, name.size() - 1) + "x", 0600, 8192);
  const OldFile of_words("tutti-results-" + name.substr(30) + ".csv", 0600, 8192);
  const OldFile readable(fresh(), 0644, 8192);
  const OldFile of_text(fresh(), 0600, 8191);
  SegmentName::remove_abandoned();
  EXPECT_FALSE(abandoned.is_there());
  EXPECT_FALSE(begun.is_there());
  for (const OldFile* users : {&longer, &shorter, &other_digits, &of_words, &readable, &of_text})
    EXPECT_TRUE(users->is_there());
}

TEST(Segment, AKilledProcessLeavesWhatIsRemoved) {
  SegmentName kept;
  std::string problem;
  const Segment made = Segment::create(bytes, kept, problem);
  ASSERT_TRUE(made.valid()) << problem;
  struct stat found {};
  ASSERT_EQ(stat(("/dev/shm" + kept.text).c_str(), &found), 0);
  const OldFile left(kept.text.substr(1, kept.text.size() - 2) + (kept.text.back() == '0' ? "1" : "0"),
                     found.st_mode & 07777U, found.st_size);
  SegmentName::remove_abandoned();
  EXPECT_FALSE(left.is_there()) << "a file like that of a segment";
  EXPECT_TRUE(exists(kept.text));
}

TEST(Segment, MoreThanThereIsRoomForIsAProblemInWords) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) GTEST_SKIP() << "no /dev/shm";
  const std::size_t all = room.f_frsize * room.f_blocks;
  if (all > (std::size_t{1} << 44U)) GTEST_SKIP() << "/dev/shm has no bound";
  SegmentName name;
  std::string problem;
  // Far beyond it, so that the file system refuses at once, without filling up first.
  const Segment made = Segment::create(std::size_t{1} << 50U, name, problem);
  EXPECT_FALSE(made.valid());
  EXPECT_NE(problem.find("/dev/shm"), std::string::npos) << problem;
  EXPECT_EQ(name.text, "") << "nothing to open or to remove";
}

// The kernel would end the process by SIGXFSZ.
TEST(Segment, AFileSizeLimitIsAProblemInWords) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  SegmentName name;
  std::string problem;
  const Segment made = Segment::create(bytes, name, problem);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(made.valid());
  EXPECT_NE(problem.find("File too large"), std::string::npos) << problem;
  EXPECT_EQ(name.text, "") << "nothing to open or to remove";
}

TEST(Segment, AShorterOneIsRefused) {
  SegmentName name;
  std::string problem;
  const Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  EXPECT_FALSE(Segment::open(name.text, 2 * bytes, problem).valid());
  EXPECT_NE(problem.find("too short"), std::string::npos) << problem;
  name.remove();
}

TEST(Segment, MovesItsMemory) {
  SegmentName name;
  std::string problem;
  Segment made = Segment::create(bytes, name, problem);
  ASSERT_TRUE(made.valid()) << problem;
  name.remove();
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
