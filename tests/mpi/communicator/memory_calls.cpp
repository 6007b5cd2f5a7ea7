// SPDX-License-Identifier: BSD-3-Clause
// Collectives on memory from the library: large, in place and not, from pointers into the middle of parts of different
// sizes, on the whole and on parts of the ranks; results are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"

namespace tutti {
namespace {

class MemoryCalls : public ::testing::TestWithParam<const char*> {
 protected:
  using Element = double;
  static constexpr std::size_t count = 40'009;  // per block: no multiple of a piece, page or vector

  void run(const Communicator& comm) {
    rank_ = comm.rank();
    size_ = comm.size();
    ranks_ = static_cast<std::size_t>(size_);
    options_.algorithm = comm.state()->machine().single_copy ? GetParam() : "";
    const std::size_t whole = count * ranks_ * sizeof(Element);
    const Allocation in = allocate(comm, whole + 64 * static_cast<std::size_t>(rank_) + 8);
    const Allocation out = allocate(comm, whole + 8);
    // Not at the begin of a part.
    send_ = in.as<Element>().subspan(1, count * ranks_);
    recv_ = out.as<Element>().subspan(1, count * ranks_);
    for (int i = 0; i < 3; ++i) {
      reductions(comm, i);
      prefixes(comm, i);
      movements(comm, i);
      v_forms(comm, i);
      other_modes(comm, i);
    }
  }

  Element held(int rank, std::size_t index, int iteration) const {
    return 1e6 * (rank + 1) + static_cast<double>(index % 9973) + 10'000.0 * iteration;
  }
  Element total(int from, int to, std::size_t index, int iteration) const {
    Element all = 0;
    for (int r = from; r < to; ++r) all += held(r, index, iteration);
    return all;
  }
  void fill(std::span<Element> data, int iteration) const {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = held(rank_, i, iteration);
  }
  /// Not every call can be made by the wanted protocol; all ranks see that alike.
  template <typename Call>
  void call(const Call& make) const {
    try {
      make(options_);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_algorithm) throw;
      make(Options{});
    }
  }
  template <typename Expected>
  void expect(std::span<const Element> data, const Expected& expected, const char* what) const {
    for (std::size_t i = 0; i < data.size(); ++i)
      if (data[i] != expected(i)) {
        ADD_FAILURE() << what << ", algorithm '" << options_.algorithm << "', rank " << rank_ << " of " << size_
                      << ": element " << i << " is " << data[i] << ", not " << expected(i);
        return;
      }
  }
  std::span<Element> block(std::span<Element> data, int r) const {
    return data.subspan(static_cast<std::size_t>(r) * count, count);
  }

  void reductions(const Communicator& comm, int n) {
    const auto sums = [&](std::size_t i) { return total(0, size_, i, n); };
    const auto sums_of_block = [&](std::size_t i) {
      return total(0, size_, static_cast<std::size_t>(rank_) * count + i, n);
    };
    const int root = n % size_;
    fill(send_, n);
    call([&](const Options& o) { allreduce(comm, send_, recv_, sum, o); });
    expect(recv_, sums, "allreduce");
    call([&](const Options& o) { allreduce(comm, send_, sum, o); });
    expect(send_, sums, "allreduce in place");
    fill(send_, n);
    std::ranges::fill(recv_, -1.0);
    call([&](const Options& o) { reduce(comm, send_, recv_, sum, root, o); });
    if (rank_ == root) expect(recv_, sums, "reduce");
    call([&](const Options& o) { reduce_scatter_block(comm, send_, recv_.subspan(0, count), sum, o); });
    expect(recv_.subspan(0, count), sums_of_block, "reduce_scatter_block");
    call([&](const Options& o) { reduce_scatter_block(comm, in_place, send_, sum, o); });
    expect(send_.subspan(0, count), sums_of_block, "reduce_scatter_block in place");
  }

  void prefixes(const Communicator& comm, int n) {
    fill(send_, n);
    call([&](const Options& o) { scan(comm, send_, recv_, sum, o); });
    expect(
        recv_, [&](std::size_t i) { return total(0, rank_ + 1, i, n); }, "scan");
    call([&](const Options& o) { exscan(comm, in_place, send_, sum, o); });
    if (rank_ > 0)
      expect(
          send_, [&](std::size_t i) { return total(0, rank_, i, n); }, "exscan in place");
  }

  void movements(const Communicator& comm, int n) {
    const int root = (n + 1) % size_;
    const auto from_all = [&](std::size_t i) { return held(static_cast<int>(i / count), i % count, n); };
    const auto my_block_of = [&](std::size_t i) {
      return held(static_cast<int>(i / count), static_cast<std::size_t>(rank_) * count + i % count, n);
    };
    fill(send_, n);
    call([&](const Options& o) { bcast(comm, send_, root, o); });
    expect(
        send_, [&](std::size_t i) { return held(root, i, n); }, "bcast");
    fill(send_, n);
    std::ranges::fill(recv_, -1.0);
    call([&](const Options& o) { allgather(comm, send_.subspan(0, count), recv_, o); });
    expect(recv_, from_all, "allgather");
    std::ranges::fill(recv_, -1.0);
    std::ranges::copy(send_.subspan(0, count), block(recv_, rank_).begin());
    call([&](const Options& o) { allgather(comm, in_place, recv_, o); });
    expect(recv_, from_all, "allgather in place");
    call([&](const Options& o) { alltoall(comm, send_, recv_, o); });
    expect(recv_, my_block_of, "alltoall");
    fill(recv_, n);
    call([&](const Options& o) { alltoall(comm, in_place, recv_, o); });
    expect(recv_, my_block_of, "alltoall in place");
    std::ranges::fill(recv_, -1.0);
    call([&](const Options& o) { gather(comm, send_.subspan(0, count), recv_, root, o); });
    if (rank_ == root) expect(recv_, from_all, "gather");
    call([&](const Options& o) { scatter(comm, send_, recv_.subspan(0, count), root, o); });
    expect(
        recv_.subspan(0, count),
        [&](std::size_t i) { return held(root, static_cast<std::size_t>(rank_) * count + i, n); }, "scatter");
  }

  void other_modes(const Communicator& comm, int n) {
    const auto sums = [&](std::size_t i) { return total(0, size_, i, n); };
    fill(send_, n);
    Request request = iallreduce(comm, send_, recv_, sum);
    request.wait();
    expect(recv_, sums, "iallreduce");
    Request persistent = allreduce_init(comm, send_, sum, options_);
    for (int i = 0; i < 3; ++i) {
      fill(send_, n);
      persistent.start();
      persistent.wait();
      expect(send_, sums, "allreduce_init in place");
    }
  }

  void v_forms(const Communicator& comm, int n) {
    std::vector<std::size_t> counts(ranks_);
    std::vector<std::size_t> displs(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      counts[r] = count - 17 * r;
      displs[r] = r * count;
    }
    const std::size_t mine = counts[static_cast<std::size_t>(rank_)];
    fill(send_, n);
    std::ranges::fill(recv_, -1.0);
    call([&](const Options& o) { allgatherv(comm, send_.subspan(0, mine), recv_, counts, displs, o); });
    for (int r = 0; r < size_; ++r) {
      const auto at = static_cast<std::size_t>(r);
      expect(
          recv_.subspan(displs[at], counts[at]), [&](std::size_t i) { return held(r, i, n); }, "allgatherv");
    }
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const auto used = send_.subspan(0, all);
    call([&](const Options& o) { reduce_scatter(comm, used, recv_.subspan(0, mine), counts, sum, o); });
    const std::size_t begin = std::accumulate(counts.begin(), counts.begin() + rank_, std::size_t{0});
    expect(
        recv_.subspan(0, mine), [&](std::size_t i) { return total(0, size_, begin + i, n); }, "reduce_scatter");
  }

  int rank_ = 0;
  int size_ = 1;
  std::size_t ranks_ = 1;
  Options options_{};
  std::span<Element> send_{};
  std::span<Element> recv_{};
};

TEST_P(MemoryCalls, OnAllRanks) { run(Communicator::duplicate(MPI_COMM_WORLD)); }

TEST_P(MemoryCalls, OnTheRanksOfANode) { run(Communicator::duplicate(MPI_COMM_WORLD).split_by_node()); }

TEST_P(MemoryCalls, OnHalfOfTheRanksInReverse) {
  const Communicator world = Communicator::duplicate(MPI_COMM_WORLD);
  run(world.split(world.rank() % 2, -world.rank()));
}

INSTANTIATE_TEST_SUITE_P(Protocols, MemoryCalls, ::testing::Values("", "shm:single_copy"));

}  // namespace
}  // namespace tutti
