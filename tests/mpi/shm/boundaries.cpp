// SPDX-License-Identifier: BSD-3-Clause
// Every operation by every protocol of shared memory that can do it, at the sizes where a protocol changes what it
// does: a full line, a full slot, whole chunks and pieces, and one element more or less.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <set>
#include <tutti/options.hpp>

#include "backends/shm/pieces.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"

namespace {
bool copies_late = false;  ///< this rank reads others' memory some time after it could
}

// Comes before the C library's.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec* here, unsigned long pieces_here, const iovec* there,
                                    unsigned long pieces_there, unsigned long flags) {
  if (copies_late) usleep(200);
  return syscall(SYS_process_vm_readv, process, here, pieces_here, there, pieces_there, flags);
}

namespace tutti::test {
namespace {

using namespace detail::shm;

/// Elements that a rank gives to one taker, such that all it publishes is about so many bytes, or its share is.
std::set<std::size_t> counts_around(std::size_t bytes, int size) {
  std::set<std::size_t> counts;
  for (const std::size_t parts : {std::size_t{1}, static_cast<std::size_t>(size)}) {
    const std::size_t middle = bytes / parts / sizeof(Work::Element);
    for (const std::size_t count : {middle - std::min<std::size_t>(middle, 1), middle, middle + 1})
      counts.insert(count);
  }
  return counts;
}

/// Those at which a protocol changes what it does with an operation; a barrier has no data, and is made a few times.
std::set<std::size_t> counts(Operation operation, int size) {
  if (operation == Operation::barrier) return {0, 1, 2, 3, 4, 5};
  std::set<std::size_t> all{0, 1, 3};
  constexpr std::size_t piece = 16 * 4096;
  const std::size_t share = slot_bytes / static_cast<std::size_t>(size) / cache_line * cache_line;
  for (const std::size_t bytes :
       {line_bytes, 2 * line_bytes, most_combined_bytes / 2, cell_lines * line_bytes, slot_bytes / 2, slot_bytes,
        3 * slot_bytes / 2, 2 * slot_bytes, share / 2, share, 3 * share, piece, 2 * piece, 8 * piece})
    all.merge(counts_around(bytes, size));
  return all;
}

/// Calls iteration and iteration + 1. False where the planner says that the protocol cannot make such a call.
bool runs(Work& work, Mode mode, const Options& options, int iteration, const std::string& what) {
  Request request;
  try {
    if (mode == Mode::persistent) request = work.prepare(options);
    for (const int i : {iteration, iteration + 1}) {
      work.fill(i);
      if (mode == Mode::blocking)
        work.run(options);
      else if (mode == Mode::nonblocking)
        request = work.start(options);
      else
        request.start();
      request.wait();
      work.verify(what);
    }
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << what << ": " << e.what();
    return false;
  }
  return true;
}

class Boundaries : public ::testing::TestWithParam<Operation> {};

/// With more than two ranks, a communicator, a length and a protocol meet in one mode by turns.
TEST_P(Boundaries, EveryProtocolThatCanDoesIt) {
  int done = 0;
  std::size_t first = 0;
  for (const Communicator& comm : communicators()) {
    std::size_t row = first++;
    if (comm.size() == 1) continue;
    for (const std::size_t count : counts(GetParam(), comm.size())) {
      std::size_t turn = row++;
      Work work(comm, GetParam(), count, comm.size() - 1);
      int iteration = 0;
      for (const char* protocol : {"shm", "shm:automatic", "shm:line", "shm:slots", "shm:single_copy", "shm:parts",
                                   "shm:tree", "shm:stream", "shm:wide", "shm:uncached"}) {
        ++turn;
        for (const Mode mode : modes) {
          if (!takes_all() && turn % 3 != static_cast<std::size_t>(mode)) continue;
          Options options;
          options.algorithm = protocol;
          const std::string what = std::string(protocol) + ", mode " + std::to_string(static_cast<int>(mode));
          done += runs(work, mode, options, iteration, what) ? 1 : 0;
          iteration += 2;
        }
      }
    }
  }
  if (communicators().front().size() == 1) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_GT(done, 10) << "hardly any call was made through shared memory";
}

INSTANTIATE_TEST_SUITE_P(Shm, Boundaries, ::testing::ValuesIn(all_operations),
                         [](const auto& operation) { return std::string(operation_name(operation.param)); });

/// A rank that is early must not write its sum over the vector that others still read. Each call's values are new.
TEST(ShortAllreduces, InPlaceBySingleCopiesLeaveTheVectorUntilAllHaveReadIt) {
  constexpr std::size_t bytes[] = {4096, 12 * 1024, root_alone_bytes, root_alone_bytes + cache_line};
  const Communicator& comm = communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  Options options;
  options.algorithm = "shm:single_copy";
  try {
    std::vector<std::int32_t> one{1};
    allreduce(comm, in_place, one, sum, options);
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), ErrorCode::invalid_algorithm) << e.what();
    GTEST_SKIP() << "the kernel copies nothing between these ranks";
  }
  copies_late = comm.rank() + 1 == comm.size();
  for (const std::size_t length : bytes) {
    int wrong = 0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      std::vector<std::int32_t> data(length / sizeof(std::int32_t));
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::int32_t>(i) * (comm.rank() + 1) + iteration;
      allreduce(comm, in_place, data, sum, options);
      const std::int32_t ranks = comm.size();
      for (std::size_t i = 0; i < data.size(); ++i)
        wrong += data[i] != static_cast<std::int32_t>(i) * (ranks * (ranks + 1) / 2) + ranks * iteration ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << length << " bytes";
  }
  copies_late = false;
}

/// One element fills a chunk, or is longer than one: combined elements are never split.
TEST(LongElements, AreCombinedWholeOrRefused) {
  const Communicator& comm = communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto add_bytes = [](const void* in, void* inout, std::size_t count, Datatype type, void* /*context*/) {
    const auto* from = static_cast<const unsigned char*>(in);
    auto* to = static_cast<unsigned char*>(inout);
    for (std::size_t i = 0; i < count * type.size(); ++i) to[i] = static_cast<unsigned char>(to[i] + from[i]);
  };
  const ReduceOp op = ReduceOp::user(add_bytes, nullptr, false);
  const std::size_t share = slot_bytes / static_cast<std::size_t>(comm.size()) / cache_line * cache_line;
  for (const std::size_t unit : {std::size_t{3}, std::size_t{1000}, share / 2, share / 2 + 1, slot_bytes / 2,
                                 slot_bytes / 2 + 1, 3 * slot_bytes})
    for (const std::size_t count : {1, 5})
      for (const char* protocol : {"", "shm:slots", "shm:single_copy", "shm:parts", "shm:tree"}) {
        Options options;
        options.algorithm = protocol;
        const auto size = static_cast<std::size_t>(comm.size());
        std::vector<unsigned char> all(unit * count * size, static_cast<unsigned char>(1 + comm.rank()));
        std::vector<unsigned char> whole(all.size());
        std::vector<unsigned char> part(unit * count);
        const auto total = static_cast<unsigned char>(comm.size() * (comm.size() + 1) / 2);
        const std::string what = std::string(protocol) + ", " + std::to_string(count) + " of " + std::to_string(unit);
        try {
          allreduce(comm, ConstBuffer(all.data(), count * size, Datatype::bytes(unit)),
                    Buffer(whole.data(), count * size, Datatype::bytes(unit)), op, options);
          EXPECT_EQ(whole, std::vector<unsigned char>(all.size(), total)) << what;
          reduce_scatter_block(comm, ConstBuffer(all.data(), count * size, Datatype::bytes(unit)),
                               Buffer(part.data(), count, Datatype::bytes(unit)), op, options);
          EXPECT_EQ(part, std::vector<unsigned char>(part.size(), total)) << what;
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << what << ": " << e.what();
          EXPECT_NE(std::string(protocol), "") << e.what();
        }
      }
}

}  // namespace
}  // namespace tutti::test
