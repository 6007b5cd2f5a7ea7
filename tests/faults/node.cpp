// SPDX-License-Identifier: BSD-3-Clause
// One rank on a machine where something is missing. Run as: node
// full|readonly|absent|filesize|killed|all_killed|set_up_killed
//
// The first three change /dev/shm after MPI_Init, since the host MPI needs it too; the process has a mount namespace of
// its own then.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

/// From the moment when this process has made a file in /dev/shm, one allocation finds no memory.
enum class Trouble { none, waits_for_file, next_allocation };
Trouble trouble = Trouble::none;

}  // namespace

// The program's own functions are found before those of the C and C++ libraries.
extern "C" int ftruncate(int file, off_t bytes) noexcept {
  using Function = int (*)(int, off_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "ftruncate"));
  if (trouble == Trouble::waits_for_file) trouble = Trouble::next_allocation;
  return next(file, bytes);
}

__attribute__((noinline)) void* operator new(std::size_t bytes) {
  const bool fails = trouble == Trouble::next_allocation;
  if (fails) trouble = Trouble::none;
  void* memory = fails ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

namespace {

int fail(const std::string& what) {
  std::fprintf(stderr, "node: %s\n", what.c_str());
  return 1;
}

/// False where the system does not let the process do it.
bool spoil(const std::string& which) {
  if (which == "filesize") {
    const rlimit low{4096, 4096};
    return setrlimit(RLIMIT_FSIZE, &low) == 0;
  }
  if (which == "full") return mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k") == 0;
  if (which == "readonly") return mount("tmpfs", "/dev/shm", "tmpfs", MS_RDONLY, "size=64m") == 0;
  // A file system that holds no files.
  if (which == "absent") return mount("proc", "/dev/shm", "proc", 0, nullptr) == 0;
  return true;
}

/// All ranks or none: a rank alone in a namespace would not fail, but wait.
bool all(bool mine) {
  int ok = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return ok != 0;
}

bool is_right(const tutti::Communicator& comm, std::size_t count) {
  std::vector<double> data(count, comm.rank() + 1.0);
  tutti::allreduce(comm, data, tutti::sum);
  const double expected = comm.size() * (comm.size() + 1) / 2.0;
  for (const double x : data)
    if (x != expected) return false;
  return true;
}

int fall_back() {
  for (int round = 0; round < 2; ++round) {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    for (const std::size_t count : {std::size_t{1}, std::size_t{3'000}, std::size_t{300'000}})
      if (!is_right(comm, count)) return fail("wrong sum");
  }
  return 0;
}

/// Never returns: the rank that makes the shared memory runs out of memory when it has made its file.
int die_in_set_up() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) trouble = Trouble::waits_for_file;
  try {
    (void)tutti::Communicator::duplicate(MPI_COMM_WORLD);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "set-up: %s\n", e.what());
    _exit(3);
  }
  return 0;  // which the script takes for a failure
}

/// Never returns: one rank, or all, are killed inside a loop of collectives; one that lives on ends by its timeout.
int die(const std::string& which) {
  tutti::CommunicatorOptions options;
  options.timeout = std::chrono::seconds(2);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD, options);
  for (int k = 0; k < 100; ++k)
    if (!is_right(comm, 1'000)) return fail("wrong sum");
  if (which == "all_killed" || comm.rank() == 1) std::raise(SIGKILL);
  try {
    for (int k = 0;; ++k) (void)is_right(comm, k % 2 == 0 ? 1 : 300'000);
  } catch (const tutti::Error& e) {
    std::fprintf(stderr, "survivor: %s\n", e.what());
  }
  _exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("which case?");
  const std::string which = argv[1];
  MPI_Init(&argc, &argv);
  if (!all(spoil(which))) {
    std::printf("not permitted\n");
    MPI_Finalize();
    return 77;
  }
  const int result = which == "set_up_killed" ? die_in_set_up() : which.ends_with("killed") ? die(which) : fall_back();
  MPI_Finalize();
  return result;
}
