// SPDX-License-Identifier: BSD-3-Clause
// Communicators in great numbers, and what their factories leave alone.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"
#include "support/world.hpp"

namespace tutti::test {
namespace {

bool is_mpich() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::strstr(text, "MPICH") != nullptr;
}

void expect_sums(const Communicator& comm, int number) {
  int x = number + comm.rank();
  allreduce(comm, std::span(&x, 1), sum);
  ASSERT_EQ(x, comm.size() * number + comm.size() * (comm.size() - 1) / 2);
}

int calls_copied = 0;
int refuses_copy(MPI_Comm /*comm*/, int /*keyval*/, void* /*extra*/, void* /*in*/, void* /*out*/, int* /*flag*/) {
  ++calls_copied;
  return MPI_ERR_OTHER;
}

int handled_errors = 0;
void count_error(MPI_Comm* /*comm*/, int* /*code*/, ...) { ++handled_errors; }

class Caller {
 public:
  Caller() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(refuses_copy, MPI_COMM_NULL_DELETE_FN, &keyval_, nullptr);
    MPI_Comm_set_attr(comm, keyval_, nullptr);
    MPI_Comm_create_errhandler(count_error, &handler_);
    MPI_Comm_set_errhandler(comm, handler_);
  }
  ~Caller() {
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval_);
    MPI_Errhandler_free(&handler_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  [[nodiscard]] MPI_Errhandler handler() const { return handler_; }
  MPI_Comm comm = MPI_COMM_NULL;

 private:
  int keyval_ = MPI_KEYVAL_INVALID;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

TEST(Communicators, CopyNoAttributeOfTheCaller) {
  calls_copied = 0;
  const Caller caller;
  expect_sums(Communicator::borrow(caller.comm), 3);
  const Communicator copy = Communicator::duplicate(caller.comm);
  expect_sums(copy, 4);
  MPI_Comm handle = copy.mpi_handle();
  EXPECT_EQ(calls_copied, 0);
  int outcome = MPI_UNEQUAL;
  MPI_Comm_compare(handle, caller.comm, &outcome);
  EXPECT_EQ(outcome, MPI_CONGRUENT);
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(handle, &now);
  EXPECT_EQ(now, caller.handler()) << "a duplicate's handle has the error handler of its original";
  MPI_Errhandler_free(&now);
  EXPECT_EQ(copy.mpi_handle(), handle);
}

// A nonblocking call by messages is the first that needs their communicator; ranks come to it at different times.
TEST(Communicators, MessagesOfCollectivesNeverMeetTheCallers) {
  const Communicator comm = Communicator::borrow(MPI_COMM_WORLD);
  int token = -1;
  Request any = irecv(comm, Buffer(&token, 1), any_source, any_tag);
  Options ring;
  ring.algorithm = "ring";
  std::vector<int> x(1000, comm.rank());
  std::vector<int> y(1000, comm.rank() + 1);
  Request first = iallreduce(comm, x, sum, ring);
  allreduce(comm, y, sum, ring);
  first.wait();
  const int n = comm.size();
  EXPECT_EQ(x, std::vector<int>(1000, n * (n - 1) / 2));
  EXPECT_EQ(y, std::vector<int>(1000, n * (n + 1) / 2));
  const int mine = comm.rank();
  send(comm, ConstBuffer(&mine, 1), (mine + 1) % n, 5);
  any.wait();
  EXPECT_EQ(token, (mine + n - 1) % n);
}

TEST(Communicators, APersistentCallThatNeverStartsIsFreed) {
  const Communicator comm = Communicator::borrow(MPI_COMM_WORLD);
  Options ring;
  ring.algorithm = "ring";
  std::vector<int> x(1000);
  const Request request = allreduce_init(comm, x, sum, ring);
}

/// Makes communicators until the host MPI has no more; all ranks stop at the same one.
std::vector<Communicator> as_many_as_possible(const Caller& caller, std::size_t most, ErrorCode& code) {
  std::vector<Communicator> made;
  code = ErrorCode::success;
  try {
    while (made.size() < most)
      made.push_back(made.size() % 2 == 0 ? Communicator::duplicate(caller.comm) : Communicator::borrow(caller.comm));
  } catch (const Error& e) {
    code = e.code();
    EXPECT_NE(std::string(e.what()).find("free communicators"), std::string::npos) << e.what();
  }
  return made;
}

TEST(Communicators, ManyFitAndTheLastIsAnError) {
  if (!is_mpich()) GTEST_SKIP() << "the number of contexts of MPICH";
  if (world().topology().oversubscribed) GTEST_SKIP() << "needs a core for each rank, or MPICH takes a minute";
  struct statvfs room {};
  const bool has_room = statvfs("/dev/shm", &room) == 0 && room.f_bavail * room.f_frsize > std::size_t{10} << 30U;
  if (!has_room) GTEST_SKIP() << "needs room for 2000 segments in /dev/shm, or communicators send messages";
  const Caller caller;
  handled_errors = 0;
  ErrorCode code = ErrorCode::success;
  std::vector<Communicator> made = as_many_as_possible(caller, 2100, code);
  EXPECT_GE(made.size(), 1900U);
  EXPECT_EQ(code, ErrorCode::mpi);
  EXPECT_EQ(handled_errors, 0) << "the caller's error handler was called";
  std::vector<std::size_t> counts(static_cast<std::size_t>(world().size()), made.size());
  alltoall(world(), std::vector(counts), counts);
  for (const std::size_t count : counts) EXPECT_EQ(count, made.size());
  for (std::size_t i = 0; i < made.size(); i += 97) expect_sums(made[i], static_cast<int>(i));
  // The messages of a collective find no context either, and say so on every rank.
  Options ring;
  ring.algorithm = "ring";
  if (world().size() > 1) {
    std::vector<int> x(8, 1);
    try {
      allreduce(made.front(), x, sum, ring);
      ADD_FAILURE() << "messages without a context";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::mpi) << e.what();
    }
  }
  made.clear();
  expect_sums(Communicator::duplicate(caller.comm), 1);
}

/// Resident memory of the mappings of this library's segments, and their number.
struct Shared {
  std::size_t kib = 0;
  int mappings = 0;
};

Shared shared_memory() {
  Shared found;
  bool is_ours = false;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) {
      is_ours = line.find("/dev/shm/tutti-") != std::string::npos;
      found.mappings += is_ours ? 1 : 0;
    } else if (is_ours && line.starts_with("Rss:")) {
      found.kib += std::stoul(line.substr(4));
    }
  }
  return found;
}

TEST(Communicators, ShortCallsTakeLittleSharedMemory) {
  (void)world();  // the first one measures costs
  constexpr std::size_t many = 40;
  const Shared before = shared_memory();
  std::vector<Communicator> made;
  for (std::size_t i = 0; i < many; ++i) {
    made.push_back(Communicator::borrow(MPI_COMM_WORLD));
    for (int k = 0; k < 20; ++k) expect_sums(made.back(), k);
  }
  const Communicator& comm = made.back();
  const Shared after = shared_memory();
  const auto size = static_cast<std::size_t>(comm.size());
  if (comm.size() == 1 || !comm.state()->machine().shared_memory) {
    EXPECT_EQ(after.mappings, before.mappings);
    return;
  }
  EXPECT_LE(after.mappings, before.mappings + 7) << "segments of 1, 1, 2, 4, 8, 16 and 32 communicators";
  // A rank maps what it has reserved itself, and what it has read of the others. Some arenas were used before.
  EXPECT_LE(after.kib - before.kib, many * size * 64);
  EXPECT_GT(after.kib - before.kib, many / 2 * size * 64);
  // All cells, by slots and by pairs.
  std::vector<int> x(20'000, comm.rank());
  for (int i = 0; i < 40; ++i) {
    Options options;
    options.algorithm = i % 2 == 0 ? "shm:slots" : "";
    x.assign(x.size(), comm.rank());
    allreduce(comm, x, sum, options);
    ASSERT_EQ(x, std::vector<int>(x.size(), comm.size() * (comm.size() - 1) / 2));
  }
  EXPECT_GT(shared_memory().kib, after.kib + 32);
}

struct Holdings {
  Shared shared;
  std::ptrdiff_t descriptors = 0;
  std::ptrdiff_t mappings = 0;
  std::size_t resident_kib = 0;
};

Holdings holdings() {
  Holdings found;
  found.shared = shared_memory();
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  found.descriptors = std::distance(begin(descriptors), end(descriptors));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++found.mappings;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) found.resident_kib = std::stoul(line.substr(6));
  return found;
}

// TUTTI_TEST_COMMUNICATORS=100000 for the long form.
TEST(Communicators, MadeAndFreedLeaveNothingBehind) {
  if (world().topology().oversubscribed) GTEST_SKIP() << "needs a core for each rank, or MPICH takes a minute";
  const char* wanted = std::getenv("TUTTI_TEST_COMMUNICATORS");
  const int times = wanted != nullptr ? std::atoi(wanted) : 2000;
  const auto make_some = [](int count) {
    for (int i = 0; i < count; ++i) expect_sums(Communicator::duplicate(MPI_COMM_WORLD), i);
  };
  {  // Arenas for the next one too, while a rank has yet to free the last.
    std::vector<Communicator> room;
    for (int i = 0; i < 4; ++i) room.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  make_some(200);
  const Holdings before = holdings();
  make_some(times);
  const Holdings after = holdings();
  EXPECT_EQ(after.shared.mappings, before.shared.mappings);
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.mappings, before.mappings + 4);
#ifndef __SANITIZE_ADDRESS__  // which keeps for a while what was freed
  EXPECT_LE(after.resident_kib, before.resident_kib + 2048);
#endif
}

// The second communicator of some processes asks nobody where they run, yet sees a table that is named meanwhile.
TEST(Communicators, LaterOnesKnowWhatTheFirstFoundOut) {
  ::unsetenv("TUTTI_TUNING");
  const Communicator first = Communicator::duplicate(MPI_COMM_WORLD);
  const Communicator later = Communicator::borrow(MPI_COMM_WORLD);
  EXPECT_EQ(later.topology().host_names, first.topology().host_names);
  EXPECT_EQ(later.state()->node_of, first.state()->node_of);
  EXPECT_EQ(later.state()->costs_report, first.state()->costs_report);
  EXPECT_EQ(later.state()->measured_report, first.state()->measured_report);
  ::setenv("TUTTI_TUNING", "off", 1);
  EXPECT_EQ(Communicator::duplicate(MPI_COMM_WORLD).state()->measured_report, "TUTTI_TUNING=off");
  ::unsetenv("TUTTI_TUNING");
  EXPECT_EQ(Communicator::duplicate(MPI_COMM_WORLD).state()->measured_report, first.state()->measured_report);
  // Other processes, or the same in another order, are others.
  const int rank = world().rank();
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  const Communicator turned = Communicator::adopt(reversed);
  for (int r = 0; r < turned.size(); ++r)
    EXPECT_EQ(turned.topology().places[static_cast<std::size_t>(r)].core,
              first.topology().places[static_cast<std::size_t>(turned.size() - 1 - r)].core);
  expect_sums(turned, 2);
  expect_sums(Communicator::borrow(MPI_COMM_SELF), 3);
}

}  // namespace
}  // namespace tutti::test
