// SPDX-License-Identifier: BSD-3-Clause
// With TUTTI_TEST_SHOW_NAMES=1 each name is written to the standard error when it is made: a process that is about to
// be killed cannot tell later.
#include "support/shared_names.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <mutex>

namespace tutti::test {
namespace {

struct Names {
  std::mutex mutex;
  std::vector<std::string> made;
};

Names& names() {
  static Names all;
  return all;
}

void note(const std::string& name) {
  const std::lock_guard lock(names().mutex);
  names().made.push_back(name);
  if (std::getenv("TUTTI_TEST_SHOW_NAMES") == nullptr) return;
  const std::string line = "made in /dev/shm: " + name.substr(1) + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

bool is_there(const std::string& name) { return access(("/dev/shm" + name).c_str(), F_OK) == 0; }

}  // namespace

std::vector<std::string> names_made() {
  const std::lock_guard lock(names().mutex);
  return names().made;
}

std::vector<std::string> names_left() {
  std::vector<std::string> left;
  std::ranges::copy_if(names_made(), std::back_inserter(left), is_there);
  return left;
}

}  // namespace tutti::test

/// The program's own shm_open is found before that of the C library, by the shared and by the static library alike.
extern "C" __attribute__((visibility("default"))) int shm_open(const char* name, int flags, mode_t mode) {
  using Function = int (*)(const char*, int, mode_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "shm_open"));
  const int file = next != nullptr ? next(name, flags, mode) : -1;
  const int error = next != nullptr ? errno : ENOSYS;
  if (file >= 0 && (flags & O_CREAT) != 0 && std::string(name).starts_with("/tutti-")) tutti::test::note(name);
  errno = error;
  return file;
}
