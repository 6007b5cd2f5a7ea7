// SPDX-License-Identifier: BSD-3-Clause
// Any collective with buffers of its own, filled and checked by one formula, for tests that care about how calls meet
// rather than about one operation.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "schedules/registry.hpp"

namespace tutti::test {

inline constexpr std::array all_operations = {
    Operation::barrier,        Operation::bcast,    Operation::reduce,    Operation::allreduce,
    Operation::reduce_scatter, Operation::scan,     Operation::exscan,    Operation::gather,
    Operation::gatherv,        Operation::scatter,  Operation::scatterv,  Operation::allgather,
    Operation::allgatherv,     Operation::alltoall, Operation::alltoallv, Operation::reduce_scatter_block};

/// One operation between ranks that each give `count` elements to each taker (v-forms: some more, some fewer).
class Work {
 public:
  using Element = std::uint32_t;

  Work(const Communicator& comm, Operation operation, std::size_t count, int root = 0)
      : comm_(comm), operation_(operation), count_(count), root_(root), rank_(comm.rank()), size_(comm.size()) {
    const bool all = operation == Operation::alltoallv;
    for (int r = 0; r < size_; ++r) {
      send_counts_.push_back(all ? between(rank_, r) : between(root_, r));
      recv_counts_.push_back(all ? between(r, rank_) : between(r, r));
    }
    send_displs_ = displacements(send_counts_);
    recv_displs_ = displacements(recv_counts_);
    resize();
  }

  void fill(int iteration);

  void run(const Options& options = {}) { (void)call(Form::blocking, options); }
  [[nodiscard]] Request start(const Options& options = {}) { return call(Form::nonblocking, options); }
  [[nodiscard]] Request prepare(const Options& options = {}) { return call(Form::persistent, options); }

  void verify(const std::string& what) const;

  [[nodiscard]] std::string name() const { return std::string(operation_name(operation_)); }

 private:
  enum class Form { blocking, nonblocking, persistent };
  struct Part {
    std::size_t offset;
    std::size_t count;
  };

  [[nodiscard]] std::size_t between(int from, int to) const {
    const auto mixed = static_cast<std::size_t>(from * 3 + to * 5) % 4;
    return mixed == 0 ? 0 : count_ / mixed;
  }
  static std::vector<std::size_t> displacements(const std::vector<std::size_t>& counts) {
    std::vector<std::size_t> all(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), all.begin(), std::size_t{0});
    return all;
  }
  [[nodiscard]] std::size_t total() const { return count_ * static_cast<std::size_t>(size_); }

  void resize() {
    const bool split = operation_ == Operation::scatter || operation_ == Operation::alltoall ||
                       operation_ == Operation::reduce_scatter || operation_ == Operation::reduce_scatter_block;
    const bool whole =
        operation_ == Operation::gather || operation_ == Operation::allgather || operation_ == Operation::alltoall;
    const bool varying_send = operation_ == Operation::scatterv || operation_ == Operation::alltoallv;
    const bool varying_recv =
        operation_ == Operation::gatherv || operation_ == Operation::allgatherv || operation_ == Operation::alltoallv;
    const auto sum_of = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    };
    const bool own = operation_ == Operation::gatherv || operation_ == Operation::allgatherv;
    send_.resize(varying_send ? sum_of(send_counts_) : own ? between(rank_, rank_) : split ? total() : count_);
    recv_.resize(varying_recv                        ? sum_of(recv_counts_)
                 : operation_ == Operation::scatterv ? between(root_, rank_)
                 : whole                             ? total()
                                                     : count_);
    if (operation_ == Operation::reduce_scatter) {
      // Uneven parts of the same total.
      recv_counts_.assign(static_cast<std::size_t>(size_), count_);
      if (size_ > 1 && count_ > 0) {
        recv_counts_.front() += recv_counts_.back() / 2;
        recv_counts_.back() -= recv_counts_.back() / 2;
      }
      recv_displs_ = displacements(recv_counts_);
      recv_.resize(recv_counts_[static_cast<std::size_t>(rank_)]);
    }
  }

  /// What this rank gives to rank r, in its send buffer. Operations whose takers all take the same: once.
  [[nodiscard]] Part given(int r) const {
    const auto index = static_cast<std::size_t>(r);
    switch (operation_) {
      case Operation::barrier:
        return {0, 0};
      case Operation::scatter:
      case Operation::alltoall:
      case Operation::reduce_scatter_block:
        return {index * count_, count_};
      case Operation::reduce_scatter:
        return {recv_displs_[index], recv_counts_[index]};
      case Operation::scatterv:
      case Operation::alltoallv:
        return {send_displs_[index], send_counts_[index]};
      default:
        return {0, r == 0 ? send_.size() : 0};
    }
  }
  [[nodiscard]] int block_for(int r) const {
    switch (operation_) {
      case Operation::scatter:
      case Operation::alltoall:
      case Operation::reduce_scatter_block:
      case Operation::reduce_scatter:
      case Operation::scatterv:
      case Operation::alltoallv:
        return r;
      default:
        return 0;
    }
  }
  [[nodiscard]] bool combines() const {
    switch (operation_) {
      case Operation::reduce:
      case Operation::allreduce:
      case Operation::reduce_scatter:
      case Operation::reduce_scatter_block:
      case Operation::scan:
      case Operation::exscan:
        return true;
      default:
        return false;
    }
  }
  /// Where what rank `from` gave to this rank arrives; a combined result counts as given by rank 0.
  [[nodiscard]] Part taken(int from) const {
    const auto index = static_cast<std::size_t>(from);
    const Part none{0, 0};
    const Part all{0, recv_.size()};
    switch (operation_) {
      case Operation::barrier:
        return none;
      case Operation::bcast:
        return from == root_ ? Part{0, count_} : none;
      case Operation::scatter:
      case Operation::scatterv:
        return from == root_ ? all : none;
      case Operation::gather:
        return rank_ == root_ ? Part{index * count_, count_} : none;
      case Operation::gatherv:
        return rank_ == root_ ? Part{recv_displs_[index], recv_counts_[index]} : none;
      case Operation::allgather:
      case Operation::alltoall:
        return {index * count_, count_};
      case Operation::allgatherv:
      case Operation::alltoallv:
        return {recv_displs_[index], recv_counts_[index]};
      case Operation::reduce:
        return from == 0 && rank_ == root_ ? all : none;
      case Operation::exscan:
        return from == 0 && rank_ > 0 ? all : none;
      default:
        return from == 0 ? all : none;
    }
  }
  /// Elements of a contribution grow by a constant, and so do sums of them.
  struct Line {
    Element first = 0;
    Element step = 0;
    [[nodiscard]] Element at(std::size_t i) const { return first + static_cast<Element>(i) * step; }
  };
  [[nodiscard]] Line contribution(int rank, int block) const {
    return {static_cast<Element>(rank) * 40503U + static_cast<Element>(block) * 9176U +
                static_cast<Element>(iteration_) * 31U + 1U,
            2654435761U};
  }
  [[nodiscard]] Line expected(int from) const {
    const int block = block_for(rank_);
    if (!combines()) return contribution(from, block);
    const int last = operation_ == Operation::scan ? rank_ : operation_ == Operation::exscan ? rank_ - 1 : size_ - 1;
    Line sum_of_all;
    for (int r = 0; r <= last; ++r) {
      const Line one = contribution(r, block);
      sum_of_all = {sum_of_all.first + one.first, sum_of_all.step + one.step};
    }
    return sum_of_all;
  }

  template <typename Blocking, typename Nonblocking, typename Init>
  static Request in_form(Form form, const Blocking& blocking, const Nonblocking& nonblocking, const Init& init) {
    if (form == Form::nonblocking) return nonblocking();
    if (form == Form::persistent) return init();
    blocking();
    return {};
  }

  Request call(Form form, const Options& o);

  const Communicator& comm_;
  Operation operation_;
  std::size_t count_;
  int root_;
  int rank_;
  int size_;
  int iteration_ = 0;
  std::vector<std::size_t> send_counts_, send_displs_, recv_counts_, recv_displs_;
  std::vector<Element> send_, recv_;
};

inline Request Work::call(Form form, const Options& o) {
  const Communicator& c = comm_;
#define TUTTI_TEST_FORMS(name, ...)                                           \
  return in_form(                                                             \
      form, [&] { name(__VA_ARGS__); }, [&] { return i##name(__VA_ARGS__); }, \
      [&] { return name##_init(__VA_ARGS__); })
  switch (operation_) {
    case Operation::barrier:
      TUTTI_TEST_FORMS(barrier, c, o);
    case Operation::bcast:
      TUTTI_TEST_FORMS(bcast, c, send_, root_, o);
    case Operation::reduce:
      TUTTI_TEST_FORMS(reduce, c, send_, recv_, sum, root_, o);
    case Operation::allreduce:
      TUTTI_TEST_FORMS(allreduce, c, send_, recv_, sum, o);
    case Operation::reduce_scatter:
      TUTTI_TEST_FORMS(reduce_scatter, c, send_, recv_, recv_counts_, sum, o);
    case Operation::reduce_scatter_block:
      TUTTI_TEST_FORMS(reduce_scatter_block, c, send_, recv_, sum, o);
    case Operation::scan:
      TUTTI_TEST_FORMS(scan, c, send_, recv_, sum, o);
    case Operation::exscan:
      TUTTI_TEST_FORMS(exscan, c, send_, recv_, sum, o);
    case Operation::gather:
      TUTTI_TEST_FORMS(gather, c, send_, recv_, root_, o);
    case Operation::gatherv:
      TUTTI_TEST_FORMS(gatherv, c, send_, recv_, recv_counts_, recv_displs_, root_, o);
    case Operation::scatter:
      TUTTI_TEST_FORMS(scatter, c, send_, recv_, root_, o);
    case Operation::scatterv:
      TUTTI_TEST_FORMS(scatterv, c, send_, send_counts_, send_displs_, recv_, root_, o);
    case Operation::allgather:
      TUTTI_TEST_FORMS(allgather, c, send_, recv_, o);
    case Operation::allgatherv:
      TUTTI_TEST_FORMS(allgatherv, c, send_, recv_, recv_counts_, recv_displs_, o);
    case Operation::alltoall:
      TUTTI_TEST_FORMS(alltoall, c, send_, recv_, o);
    case Operation::alltoallv:
      TUTTI_TEST_FORMS(alltoallv, c, send_, send_counts_, send_displs_, recv_, recv_counts_, recv_displs_, o);
  }
#undef TUTTI_TEST_FORMS
  return {};
}

}  // namespace tutti::test
