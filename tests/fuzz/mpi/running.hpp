// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a call: its buffers, the call itself, the same call by the MPI, and the verdict.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mpi/layout.hpp"
#include "fuzz/mpi/program.hpp"
#include "fuzz/mpi/reductions.hpp"

namespace tutti::fuzz::mpi {

class Running {
 public:
  Running(const Call& call, const Group& group, int rank_of_world);

  [[nodiscard]] const Call& call() const { return call_; }
  /// Makes a persistent call.
  void init();
  /// Fills the buffers.
  void fill(int round);
  /// Makes the call, or starts it.
  void start();
  [[nodiscard]] MPI_Request& request() { return request_; }
  /// Makes the call by the MPI, on all ranks. What differs; "" if nothing does.
  [[nodiscard]] std::string compare();
  /// A persistent call ends.
  void free();

 private:
  struct Shapes {
    Shape send, recv;
  };
  [[nodiscard]] Shapes shapes() const;
  [[nodiscard]] bool is_root() const;
  [[nodiscard]] int root_argument() const;
  [[nodiscard]] int root_rank() const;
  [[nodiscard]] std::size_t number(int from, int to) const;
  [[nodiscard]] std::vector<std::size_t> numbers(Shape shape, bool sends) const;
  void lay_out_moved();
  void lay_out_combined();
  void leave_out_absent();
  void take_arguments();
  void take_operands(Side& send, Side& recv) const;
  void spoil_what_only_the_root_gives();
  void fill_moved(Random& random);
  void fill_combined(Random& random);
  [[nodiscard]] Arguments by_mpi();
  [[nodiscard]] bool has_value(std::ptrdiff_t place) const;
  [[nodiscard]] std::size_t own_block() const;

  const Call& call_;
  const Group& group_;
  const int rank_;
  Random random_;
  bool is_in_place_ = false;
  Layout send_{}, recv_{};
  Storage sent_{}, sent_by_mpi_{}, received_{}, received_by_mpi_{}, input_by_mpi_{};
  // Reductions:
  Type operand_{};
  Op op_{};
  std::vector<std::size_t> operands_{};  ///< given to each rank
  Arguments arguments_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tutti::fuzz::mpi
