// SPDX-License-Identifier: BSD-3-Clause
// Single copies by XPMEM, with the stand-in for it: what is attached, for how long, and that results stay right when
// buffers come and go.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "backends/shm/peer_memory.hpp"
#include "call/context.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"
#include "support/standin/xpmem.hpp"

namespace tutti::test {
namespace {

using standin_xpmem::counts;

/// All ranks, all in reverse order, and this rank's half. The last test frees them.
std::vector<Communicator>& groups() {
  static std::vector<Communicator> all = [] {
    std::vector<Communicator> made;
    made.push_back(Communicator::duplicate(MPI_COMM_WORLD));
    const int rank = made.front().rank();
    made.push_back(made.front().split(0, -rank));
    made.push_back(made.front().split(rank % 2, rank));
    return made;
  }();
  return all;
}

/// The stand-in gives a block of its own pages to vectors of at least this length.
constexpr std::size_t long_vector = std::size_t{200} << 10U;

class Xpmem : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!standin_xpmem::is_loaded()) GTEST_SKIP() << "needs the stand-in for XPMEM to be preloaded";
    if (groups().front().size() == 1) GTEST_SKIP() << "needs 2 ranks";
    options_.algorithm = "shm:single_copy";
  }
  [[nodiscard]] static const Communicator& comm() { return groups().front(); }
  [[nodiscard]] static detail::Machine machine() { return comm().state()->machine(); }
  /// The sum of a rank's number over all ranks. Which ranks do the work of a call depends on who comes first.
  [[nodiscard]] static int on_all_ranks(int mine) {
    allreduce(comm(), in_place, Buffer(&mine, 1), sum);
    return mine;
  }
  Options options_;
};

TEST_F(Xpmem, IsAgreedOnAndReported) {
  EXPECT_TRUE(machine().mapped_copy);
  EXPECT_EQ(machine().single_copy, std::getenv("TUTTI_STANDIN_NO_KERNEL_COPY") == nullptr);
  for (const Communicator& each : groups()) EXPECT_EQ(each.state()->machine().mapped_copy, each.size() > 1);
  EXPECT_EQ(counts().makes, 1) << "one segment for all communicators";
  EXPECT_LT(counts().gets, 2 * comm().size()) << "one permit per peer for all communicators";
}

/// Every operation, in every mode, three times with buffers of its own: blocks that are freed and obtained again lie at
/// the same addresses with other data, and other pages.
TEST_F(Xpmem, EveryOperationWithBuffersThatComeAndGo) {
  int done = 0;
  for (const Operation operation : all_operations) {
    const bool is_varying = tutti::is_varying(operation);
    options_.algorithm = is_varying ? "shm:automatic" : "shm:single_copy";
    if (operation == Operation::barrier) continue;
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{70'001}})
      for (const Mode mode : modes)
        for (int lifetime = 0; lifetime < 3; ++lifetime) {
          Work work(comm(), operation, count, lifetime % comm().size());
          Request request = mode == Mode::persistent ? work.prepare(options_) : Request();
          for (int i = 0; i < 2; ++i) {
            work.fill(3 * lifetime + i);
            if (mode == Mode::blocking) work.run(options_);
            if (mode == Mode::nonblocking) request = work.start(options_);
            if (mode == Mode::persistent) request.start();
            if (mode != Mode::blocking) request.wait();
            work.verify("count " + std::to_string(count) + ", mode " + std::to_string(static_cast<int>(mode)) +
                        ", lifetime " + std::to_string(lifetime));
          }
          ++done;
        }
  }
  EXPECT_EQ(done, 15 * 27);
  EXPECT_EQ(counts().stale_touches, 0) << "memory was touched after its owner had freed it";
}

TEST_F(Xpmem, InPlace) {
  const auto size = static_cast<std::size_t>(comm().size());
  const int root = comm().size() - 1;
  const auto mine = static_cast<float>(1 + comm().rank());
  const float total = static_cast<float>(size * (size + 1)) / 2;
  for (const std::size_t count : {std::size_t{5}, long_vector}) {
    for (int i = 0; i < 3; ++i) {
      std::vector<float> data(count, mine);
      allreduce(comm(), data, sum, options_);
      EXPECT_EQ(data, std::vector<float>(count, total));
      data.assign(count, mine);
      if (comm().rank() == root)
        reduce(comm(), in_place, data, sum, root, options_);
      else
        reduce(comm(), data, data, sum, root, options_);
      if (comm().rank() == root) {
        EXPECT_EQ(data, std::vector<float>(count, total));
      }
      data.assign(count, mine);
      scan(comm(), in_place, data, sum, options_);
      EXPECT_EQ(data, std::vector<float>(count, mine * (mine + 1) / 2));
      std::vector<float> all(count * size, mine);
      reduce_scatter_block(comm(), in_place, Buffer(all.data(), all.size()), sum, options_);
      EXPECT_EQ(std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)),
                std::vector<float>(count, total));
      all.assign(count * size, mine);
      alltoall(comm(), in_place, Buffer(all.data(), all.size()), options_);
      for (std::size_t r = 0; r < size; ++r) ASSERT_EQ(all[r * count], static_cast<float>(r + 1));
    }
  }
}

TEST_F(Xpmem, LaterCallsAttachNothing) {
  const int before = counts().attaches;
  std::vector<float> send(long_vector, 1);
  std::vector<float> recv(long_vector);
  const Communicator other = Communicator::duplicate(MPI_COMM_WORLD);
  const int probes = counts().attaches - before;
  for (int i = 0; i < 20; ++i) {
    allreduce(comm(), send, recv, sum, options_);
    allreduce(other, send, recv, sum, options_);
    allreduce(comm(), recv, send, sum, options_);
    send.assign(send.size(), 1);
  }
  const int mine = counts().attaches - before - probes;
  EXPECT_LE(mine, 2 * (comm().size() - 1)) << "two vectors of each other rank are attached once";
  EXPECT_GE(on_all_ranks(mine), 1) << "no vector was attached";
}

/// The vector of each lifetime is at the same address as the one before it, on pages that are new: the range that is
/// still attached must show them.
TEST_F(Xpmem, ARangeThatItsOwnerHasMappedAnewShowsTheNewPages) {
  const int before = counts().attaches;
  const void* place = nullptr;
  for (int lifetime = 0; lifetime < 20; ++lifetime) {
    std::vector<int> data(long_vector, 100 * lifetime + comm().rank());
    EXPECT_TRUE(place == nullptr || place == data.data()) << "the test means addresses to be used again";
    place = data.data();
    allreduce(comm(), data, max, options_);
    EXPECT_EQ(data, std::vector<int>(long_vector, 100 * lifetime + comm().size() - 1));
  }
  EXPECT_LE(counts().attaches - before, comm().size() - 1);
  EXPECT_EQ(counts().stale_touches, 0);
}

TEST_F(Xpmem, OldRangesAreDetached) {
  const int attached = counts().attaches - counts().detaches;
  const std::size_t most = detail::shm::RangeCache::most_ranges;
  std::vector<std::unique_ptr<std::vector<float>>> buffers;
  for (std::size_t i = 0; i < 2 * most + 10; ++i) {
    // Every other block is not used, so that no two ranges touch.
    for (int k = 0; k < 2; ++k) buffers.push_back(std::make_unique<std::vector<float>>(long_vector));
    bcast(comm(), *buffers.back(), 0, options_);
  }
  const int more = counts().attaches - counts().detaches - attached;
  EXPECT_LE(more, static_cast<int>(most) * (comm().size() - 1));
  EXPECT_GE(on_all_ranks(counts().detaches), 1);
}

/// Vectors of other ranks whose attach is refused are copied by the kernel, if it copies.
TEST_F(Xpmem, ARefusedAttachIsNoErrorIfTheKernelCopies) {
  if (!machine().single_copy) GTEST_SKIP() << "the kernel copies nothing here";
  const int refused = counts().refused;
  const int attaches = counts().attaches;
  std::vector<float> data(long_vector + 77'777, static_cast<float>(1 + comm().rank()));
  standin_xpmem::control().refuse_attaches(1);
  allreduce(comm(), data, sum, options_);
  standin_xpmem::control().refuse_attaches(0);
  EXPECT_GE(on_all_ranks(counts().refused - refused), 1);
  const float total = static_cast<float>(comm().size() * (comm().size() + 1)) / 2;
  EXPECT_EQ(data, std::vector<float>(data.size(), total));
  allreduce(comm(), data, sum, options_);
  EXPECT_GE(on_all_ranks(counts().attaches - attaches), 1) << "a refusal is for one call";
}

/// A call fails with a reason if neither XPMEM nor the kernel reaches a buffer.
TEST_F(Xpmem, ARefusedAttachIsAnErrorIfTheKernelRefusesToo) {
  if (machine().single_copy) GTEST_SKIP() << "the kernel copies here";
  const Communicator own = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<float> data(long_vector + 99'999, 1);
  Options options = options_;
  options.timeout = std::chrono::seconds(20);
  standin_xpmem::control().refuse_attaches(1);
  try {
    allreduce(own, data, sum, options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::internal || error.code() == ErrorCode::timeout) << error.what();
  }
  standin_xpmem::control().refuse_attaches(0);
  barrier(comm());
}

/// Behind the other tests, because it needs that nothing else holds a peer's memory.
TEST(XpmemAtTheEnd, NothingStaysAttached) {
  if (!standin_xpmem::is_loaded()) GTEST_SKIP() << "needs the stand-in for XPMEM to be preloaded";
  if (groups().front().size() == 1) GTEST_SKIP() << "needs 2 ranks";
  barrier(groups().front());
  EXPECT_GT(counts().attaches, counts().detaches) << "the trial words, at least";
  groups().clear();
  const auto now = counts();
  EXPECT_EQ(now.attaches, now.detaches);
  EXPECT_EQ(now.gets, now.releases);
}

/// The stand-in itself: rank 1 attaches a block of rank 0, which frees it and obtains it again. Last, because the touch
/// that it makes between the two is the one that must never be made.
TEST(XpmemStandIn, AnAttachmentFollowsItsOwnerAndAStaleTouchIsCounted) {
  if (!standin_xpmem::is_loaded()) GTEST_SKIP() << "needs the stand-in for XPMEM to be preloaded";
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) GTEST_SKIP() << "needs 2 ranks";
  std::string why;
  auto block = std::make_unique<std::vector<int>>(long_vector, 7);
  std::array<std::int64_t, 3> owner{getpid(), detail::shm::own_segment(why),
                                    reinterpret_cast<std::int64_t>(block->data())};
  MPI_Bcast(owner.data(), 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const auto address = static_cast<std::uint64_t>(owner[2]);
  const auto memory = rank == 1 ? detail::shm::PeerMemory::of(static_cast<pid_t>(owner[0]), owner[1]) : nullptr;
  const auto held = rank == 1 ? memory->attach(address, long_vector * sizeof(int)) : nullptr;
  const volatile int* seen = rank == 1 ? reinterpret_cast<const int*>(held->at(address)) : nullptr;
  if (rank == 1) {
    EXPECT_EQ(*seen, 7);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  block.reset();
  EXPECT_EQ(counts().stale_touches, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    EXPECT_EQ(*seen, 0) << "the old page is gone";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(counts().stale_touches, rank == 0 ? 1 : 0);
  block = std::make_unique<std::vector<int>>(long_vector, 9);
  if (rank == 0) {
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(block->data()), address);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    EXPECT_EQ(*seen, 9) << "the new page is not seen";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
