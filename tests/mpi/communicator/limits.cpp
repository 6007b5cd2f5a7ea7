// SPDX-License-Identifier: BSD-3-Clause
// Limits of the system, on all ranks or on one: calls may take longer there, and have the same results. What is made
// under a limit works, and what was made before it goes on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <fstream>
#include <optional>
#include <tuple>

#include "support/exercise.hpp"
#include "support/no_descriptors.hpp"

namespace tutti::test {
namespace {

/// Holds while it lives.
class ResourceLimit {
 public:
  ResourceLimit(decltype(RLIMIT_AS) kind, rlim_t most) : kind_(kind) {
    getrlimit(kind_, &before_);
    rlimit low = before_;
    low.rlim_cur = std::min(most, before_.rlim_max);
    setrlimit(kind_, &low);
  }
  ~ResourceLimit() { setrlimit(kind_, &before_); }
  ResourceLimit(const ResourceLimit&) = delete;
  ResourceLimit& operator=(const ResourceLimit&) = delete;

 private:
  decltype(RLIMIT_AS) kind_;
  rlimit before_{};
};

/// The addresses that this process has taken, in bytes.
rlim_t addresses_taken() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

enum class Scarce { descriptors, addresses, locked_memory, file_bytes };

/// Takes what is scarce from this process.
class Scarcity {
 public:
  explicit Scarcity(Scarce what) {
    constexpr rlim_t mib = rlim_t{1} << 20U;
    if (what == Scarce::descriptors) none_.emplace();
    if (what == Scarce::addresses) limit_.emplace(RLIMIT_AS, addresses_taken() + 128 * mib);
    if (what == Scarce::locked_memory) limit_.emplace(RLIMIT_MEMLOCK, 0);
    if (what == Scarce::file_bytes) limit_.emplace(RLIMIT_FSIZE, mib);  // which no segment has room in
  }

 private:
  std::optional<NoDescriptors> none_{};
  std::optional<ResourceLimit> limit_{};
};

/// Calls of one form with so many elements a block.
struct Calls {
  const Communicator& comm;
  Mode mode;
  std::size_t n;
  std::size_t ranks = static_cast<std::size_t>(comm.size());
  int rank = comm.rank();
  std::vector<std::int64_t> send = std::vector<std::int64_t>(n * ranks);
  std::vector<std::int64_t> recv = std::vector<std::int64_t>(n * ranks);

  /// Elements differ by rank, block and iteration, and little within a block.
  [[nodiscard]] static std::int64_t held(std::size_t from, std::size_t block, int i) {
    return static_cast<std::int64_t>(1000 * (from + 1) + 10 * block) + i;
  }
  [[nodiscard]] std::int64_t sum_of(std::size_t block, int i, std::size_t end) const {
    std::int64_t all = 0;
    for (std::size_t r = 0; r < end; ++r) all += held(r, block, i);
    return all;
  }
  void fill(int i) {
    for (std::size_t k = 0; k < send.size(); ++k) send[k] = held(static_cast<std::size_t>(rank), k / n, i);
    std::fill(recv.begin(), recv.end(), -1);
  }
  /// The first and the last element of a block.
  void expect(const char* call, std::size_t block, std::int64_t value) const {
    for (const std::size_t k : {block * n, block * n + n - 1})
      EXPECT_EQ(recv[k], value) << call << ", " << n << " elements, form " << static_cast<int>(mode);
  }
};

#define TUTTI_TEST_FORMS(calls, look, name, ...)                                                                       \
  exercise((calls).mode, [&] { name((calls).comm, __VA_ARGS__); }, [&] { return i##name((calls).comm, __VA_ARGS__); }, \
           [&] { return name##_init((calls).comm, __VA_ARGS__); }, [&](int i) { (calls).fill(i); }, look)

void expect_movements(Calls& c) {
  const int root = c.comm.size() - 1;
  const auto last = static_cast<std::size_t>(root);
  const auto own = static_cast<std::size_t>(c.rank);
  const bool is_root = c.rank == root;
  const ConstBuffer one(c.send.data(), c.n);
  const Buffer into(c.recv.data(), c.n);
  TUTTI_TEST_FORMS(
      c, [&](int i) { EXPECT_EQ(c.send[c.n - 1], c.held(last, 0, i)) << "bcast of " << c.n << " elements"; }, bcast,
      Buffer(c.send.data(), c.n), root);
  TUTTI_TEST_FORMS(
      c,
      [&](int i) {
        for (std::size_t r = 0; is_root && r < c.ranks; ++r) c.expect("gather", r, c.held(r, 0, i));
      },
      gather, one, c.recv, root);
  TUTTI_TEST_FORMS(
      c, [&](int i) { c.expect("scatter", 0, c.held(last, own, i)); }, scatter, c.send, into, root);
  TUTTI_TEST_FORMS(
      c,
      [&](int i) {
        for (std::size_t r = 0; r < c.ranks; ++r) c.expect("allgather", r, c.held(r, 0, i));
      },
      allgather, one, c.recv);
  TUTTI_TEST_FORMS(
      c,
      [&](int i) {
        for (std::size_t r = 0; r < c.ranks; ++r) c.expect("alltoall", r, c.held(r, own, i));
      },
      alltoall, c.send, c.recv);
}

void expect_reductions(Calls& c) {
  const auto own = static_cast<std::size_t>(c.rank);
  const ConstBuffer one(c.send.data(), c.n);
  const Buffer into(c.recv.data(), c.n);
  TUTTI_TEST_FORMS(
      c, [&](int i) { c.expect("allreduce", 0, c.sum_of(0, i, c.ranks)); }, allreduce, one, into, sum);
  TUTTI_TEST_FORMS(
      c,
      [&](int i) {
        if (c.rank == 0) c.expect("reduce", 0, c.sum_of(0, i, c.ranks));
      },
      reduce, one, into, sum, 0);
  TUTTI_TEST_FORMS(
      c, [&](int i) { c.expect("reduce_scatter_block", 0, c.sum_of(own, i, c.ranks)); }, reduce_scatter_block, c.send,
      into, sum);
  TUTTI_TEST_FORMS(
      c, [&](int i) { c.expect("scan", 0, c.sum_of(0, i, own + 1)); }, scan, one, into, sum);
}

void expect_messages(Calls& c) {
  const int next = (c.rank + 1) % c.comm.size();
  const int previous = (c.rank + c.comm.size() - 1) % c.comm.size();
  c.fill(0);
  sendrecv(c.comm, ConstBuffer(c.send.data(), c.n), next, 1, Buffer(c.recv.data(), c.n), previous, 1);
  c.expect("sendrecv", 0, c.held(static_cast<std::size_t>(previous), 0, 0));
}

void expect_right_calls(const Communicator& comm) {
  for (const std::size_t n : {std::size_t{3}, std::size_t{20'000}})
    for (const Mode mode : modes) {
      Calls calls{comm, mode, n};
      expect_movements(calls);
      expect_reductions(calls);
      expect_messages(calls);
    }
}

/// Memory that ranks share where they can, or an error that is the same on all ranks.
void expect_memory(const Communicator& comm) {
  const Allocation memory = allocate(comm, 4 << 20U);
  auto* const numbers = static_cast<int*>(memory.data());
  numbers[0] = comm.rank();
  numbers[1'000'000] = 1;
  allreduce(comm, numbers, 1'000'001, sum);
  EXPECT_EQ(numbers[0], comm.size() * (comm.size() - 1) / 2);
  EXPECT_EQ(numbers[1'000'000], comm.size());
}

/// A sanitizer takes addresses for itself, and an MPI may make what it needs for messages at the first ones: nothing is
/// known of the needs of others than MPICH.
bool is_known(Scarce what) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (what == Scarce::addresses) return false;
#endif
#ifdef MPICH_VERSION
  return what <= Scarce::file_bytes;
#else
  return what == Scarce::locked_memory;
#endif
}

using Setting = std::tuple<Scarce, bool>;  // and whether on all ranks, else on the last one

class Limits : public testing::TestWithParam<Setting> {};

TEST_P(Limits, MakeNothingWrong) {
  const auto [what, is_everywhere] = GetParam();
  if (!is_known(what)) GTEST_SKIP() << "this MPI, or a sanitizer, may need more for itself";
  const Communicator before = Communicator::duplicate(MPI_COMM_WORLD);
  std::optional<Communicator> made;
  {
    std::optional<Scarcity> scarce;
    if (is_everywhere || before.rank() == before.size() - 1) scarce.emplace(what);
    expect_right_calls(before);
    made = Communicator::duplicate(MPI_COMM_WORLD);
    expect_right_calls(*made);
    expect_memory(before.split(0, -before.rank()));
  }
  expect_memory(*made);
}

std::string name_of(const testing::TestParamInfo<Setting>& info) {
  static constexpr std::array names = {"descriptors", "addresses", "locked_memory", "file_bytes"};
  const auto [what, is_everywhere] = info.param;
  return std::string(names[static_cast<std::size_t>(what)]) + (is_everywhere ? "_everywhere" : "_on_one_rank");
}

INSTANTIATE_TEST_SUITE_P(Scarce, Limits,
                         testing::Combine(testing::Values(Scarce::descriptors, Scarce::addresses, Scarce::locked_memory,
                                                          Scarce::file_bytes),
                                          testing::Bool()),
                         name_of);

}  // namespace
}  // namespace tutti::test
