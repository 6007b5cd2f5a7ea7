// SPDX-License-Identifier: BSD-3-Clause
// Communicators of every kind, each beside one that no library has seen made, for the calls of the MPI.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "fuzz/random.hpp"

namespace tutti::fuzz::mpi {

/// Kinds of communicators that a program draws.
enum class Kind { duplicate, part, reversed, grid, graph, intercommunicator };
inline constexpr std::size_t kinds = 6;
[[nodiscard]] const char* name(Kind kind);

struct GroupPlan {
  Kind kind = Kind::duplicate;
  std::uint64_t seed = 0;
};

/// This rank's communicator; without one on a rank that is not in it.
class Group {
 public:
  /// Collective over `world`.
  Group(const GroupPlan& plan, MPI_Comm world);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] bool is_member() const { return comm_ != MPI_COMM_NULL; }
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] MPI_Comm of_mpi() const { return of_mpi_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// The ranks of the world that this rank gives data to and gets data from.
  [[nodiscard]] const std::vector<int>& peers() const { return peers_; }
  [[nodiscard]] const std::vector<int>& sources() const { return sources_; }
  [[nodiscard]] const std::vector<int>& destinations() const { return destinations_; }
  [[nodiscard]] bool has_topology() const { return kind_ == Kind::grid || kind_ == Kind::graph; }
  [[nodiscard]] bool is_inter() const { return kind_ == Kind::intercommunicator && is_member(); }
  /// Of an intercommunicator: whether this rank is in the group of the root.
  [[nodiscard]] bool is_first() const { return is_first_; }
  /// Whether the library makes blocking and persistent calls from the first one on.
  [[nodiscard]] bool has_side() const { return has_side_; }

 private:
  void leave_if_alone();
  void make_grid(Random random, MPI_Comm world);
  void make_graph(Random random, MPI_Comm world);
  void make_intercommunicator(Random random, MPI_Comm world);
  void split(bool is_in, int key, MPI_Comm world);

  Kind kind_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm of_mpi_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool is_first_ = true;
  bool has_side_ = false;
  std::vector<int> peers_{}, sources_{}, destinations_{};
};

}  // namespace tutti::fuzz::mpi
