// SPDX-License-Identifier: BSD-3-Clause
#include "call/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

#include "core/file_limit.hpp"

namespace tutti::detail::shm {
namespace {

constexpr std::size_t page = 4096;
constexpr std::string_view prefix = "/tutti-";
constexpr std::size_t digits = 32;
constexpr mode_t mode = S_IRUSR | S_IWUSR;

std::string random_name() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return {};
  return SegmentName::of(bits[0], bits[1]);
}

/// The files have whole pages, by which remove_abandoned() knows them too.
std::size_t file_bytes(std::size_t bytes) { return (bytes + page - 1) / page * page; }

void* map(int file, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return data == MAP_FAILED ? nullptr : data;
}

/// Returns an error number, or 0. A signal makes the kernel undo the whole call, so that under a profiler's timer a
/// long one would never end: it takes pieces, and shorter ones after a signal.
int reserve_pages(int file, std::size_t begin, std::size_t bytes) {
  if (exceeds_file_limit(begin + bytes)) return EFBIG;
  std::size_t piece = std::size_t{1} << 20U;
  while (bytes > 0) {
    const std::size_t now = std::min(piece, bytes);
    const int error = posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(now));
    if (error == EINTR) {
      piece = std::max(piece / 2, page);
    } else if (error != 0) {
      return error;
    } else {
      begin += now;
      bytes -= now;
    }
  }
  return 0;
}

/// A descriptor, closed at the end.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

std::string words(const char* what, int error) {
  return fmt::format("{} in /dev/shm failed: {}", what, std::strerror(error));
}

constexpr std::size_t huge_page = std::size_t{2} << 20U;

/// Takes the pages of mapped memory for this process to write. Returns false if there is no room or the kernel cannot.
bool populate([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  int code = -1;
  do code = madvise(data, bytes, MADV_POPULATE_WRITE);
  while (code != 0 && errno == EINTR);
  return code == 0;
#else
  return false;
#endif
}

/// Opens a new file; returns -1 on failure.
int create_file(SegmentName& name, std::string& problem) {
  static const bool is_clean = (SegmentName::remove_abandoned(), true);
  (void)is_clean;
  name.text = random_name();
  if (name.text.empty()) {
    problem = "the kernel gave no random bytes to name shared memory";
    return -1;
  }
  const int file = shm_open(name.text.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
  if (file < 0) {
    problem = words("creating shared memory", errno);
    name.text.clear();
  } else {
    name.lock(file);
  }
  return file;
}

bool fits(const struct statvfs& free, std::size_t bytes) { return bytes / free.f_frsize < free.f_bavail; }

/// Returns an error number, or 0. Checks for room first, because reserving pages until none is left takes memory from
/// others.
int resize(int file, std::size_t bytes, std::size_t needed) {
  struct statvfs free {};
  if (fstatvfs(file, &free) == 0 && !fits(free, needed)) return ENOSPC;
  if (exceeds_file_limit(bytes)) return EFBIG;
  return ftruncate(file, static_cast<off_t>(file_bytes(bytes))) == 0 ? 0 : errno;
}

/// Files of the user's own may begin like the names that SegmentName::of() makes.
bool is_name(std::string_view name) noexcept {
  const std::string_view begin = prefix.substr(1);
  return name.size() == begin.size() + digits && name.starts_with(begin) &&
         name.find_first_not_of("0123456789abcdef", begin.size()) == std::string_view::npos;
}

/// The size is 0 if the process was killed before it gave its file one.
bool is_segment(const struct stat& found) noexcept {
  return found.st_mode == (S_IFREG | mode) && found.st_uid == geteuid() && found.st_nlink == 1 &&
         found.st_size % static_cast<off_t>(page) == 0;
}

/// The lock of a process ends with it.
bool is_abandoned(int folder, const char* name) noexcept {
  constexpr std::time_t least_age = 10;  // seconds: one that is younger may not be locked yet
  const File file(openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (file.get() < 0 || fstat(file.get(), &found) != 0 || !is_segment(found)) return false;
  return std::time(nullptr) - found.st_mtime >= least_age && flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Segment Segment::open(const std::string& name, std::size_t bytes, std::string& problem) {
  const File file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (file.get() < 0) {
    problem = words("opening shared memory", errno);
    return {};
  }
  struct stat found {};
  const bool is_whole = fstat(file.get(), &found) == 0 && static_cast<std::size_t>(found.st_size) >= bytes;
  Segment made(is_whole ? map(file.get(), bytes) : nullptr, bytes);
  if (!made.valid()) problem = is_whole ? words("mapping shared memory", errno) : "shared memory is too short";
  return made;
}

Segment Segment::create(std::size_t bytes, SegmentName& name, std::string& problem, std::size_t needed) {
  const File file(create_file(name, problem));
  if (file.get() < 0) return {};
  const int error = resize(file.get(), bytes, needed);
  Segment made(error == 0 ? map(file.get(), bytes) : nullptr, bytes);
  if (!made.valid()) {
    const int why = error != 0 ? error : errno;
    name.remove();
    problem = words(fmt::format("making {} KiB of shared memory", bytes / 1024).c_str(), why);
  }
  return made;
}

Segment Segment::meet(SegmentName& name, std::size_t bytes, std::string& problem) {
  const File file(shm_open(name.text.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode));
  struct stat found {};
  if (file.get() < 0 || fstat(file.get(), &found) != 0) {
    problem = words("opening shared memory", errno);
    return {};
  }
  if (found.st_uid != geteuid()) {
    problem = "shared memory of that name belongs to another user";
    return {};
  }
  name.lock(file.get());
  const int error = reserve_pages(file.get(), 0, file_bytes(bytes));  // which also makes the file long enough
  Segment made(error == 0 ? map(file.get(), bytes) : nullptr, bytes);
  if (!made.valid()) problem = words("making shared memory", error != 0 ? error : errno);
  return made;
}

bool Segment::has_room(std::size_t bytes) noexcept {
  struct statvfs free {};
  return statvfs("/dev/shm", &free) != 0 || fits(free, bytes);
}

bool Segment::reserve(const std::string& name, std::size_t begin, std::size_t bytes, std::string& problem) {
#ifdef MADV_HUGEPAGE
  if (bytes >= huge_page) madvise(data() + begin, bytes, MADV_HUGEPAGE);
#endif
  if (populate(data() + begin, bytes)) return true;
  // Serves older kernels, and finds the reason if there is no room.
  const File file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  const int full = file.get() < 0 ? errno : reserve_pages(file.get(), begin, bytes);
  if (full != 0) problem = words(fmt::format("reserving {} KiB of shared memory", bytes / 1024).c_str(), full);
  return full == 0;
}

bool Segment::reserve_later(std::size_t begin, std::size_t bytes, std::string& problem) {
  if (try_reserve(begin, bytes)) return true;
  problem = words(fmt::format("reserving {} KiB of shared memory", bytes / 1024).c_str(), ENOSPC);
  return false;
}

bool Segment::try_reserve(std::size_t begin, std::size_t bytes) noexcept { return populate(data() + begin, bytes); }

bool Segment::give_back(std::size_t begin, std::size_t bytes) noexcept {
  return madvise(data() + begin, bytes, MADV_REMOVE) == 0;
}

// The kernel checks the advice before the length.
bool Segment::can_reserve_later() const noexcept { return populate(data(), 0); }

Segment Segment::alone(std::size_t bytes, std::string& problem) {
  const std::size_t alignment = bytes >= huge_page ? huge_page : 0;
  const std::size_t all = bytes + alignment;
  void* base = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    problem = std::strerror(errno);
    return {};
  }
  if (alignment == 0) return {base, bytes};
  auto* begin = static_cast<std::byte*>(base);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before > 0) munmap(begin, before);
  if (alignment > before) munmap(begin + before + bytes, alignment - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);
#endif
  return {begin + before, bytes};
}

std::string SegmentName::of(std::uint64_t high, std::uint64_t low) {
  return fmt::format("{}{:016x}{:016x}", prefix, high, low);
}

void SegmentName::remove() noexcept {
  if (!text.empty()) shm_unlink(text.c_str());
  text.clear();
  if (lock_ >= 0) close(lock_);
  lock_ = -1;
}

void SegmentName::lock(int file) noexcept {
  lock_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  (void)flock(file, LOCK_SH | LOCK_NB);
}

void SegmentName::remove_abandoned() noexcept {
  DIR* names = opendir("/dev/shm");
  if (names == nullptr) return;
  while (const dirent* entry = readdir(names))
    if (is_name(entry->d_name) && is_abandoned(dirfd(names), entry->d_name))
      (void)unlinkat(dirfd(names), entry->d_name, 0);
  closedir(names);
}

}  // namespace tutti::detail::shm
