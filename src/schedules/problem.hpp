// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "operation/operation.hpp"
#include "schedules/node_map.hpp"

namespace tutti::schedules {

/// The patterns of messages between nodes, by their distances and by the nodes that send at once. Near messages begin
/// sooner, and a network slows down what all nodes send in its own measure at each distance.
enum class Flow : std::uint8_t {
  alone,          ///< of few nodes at a time, at any distance
  trees,          ///< the same in rounds at the distances 1, 2, 4, ...
  neighbours,     ///< of all nodes, to the next one
  doubling,       ///< of all nodes, in rounds at the distances 1, 2, 4, ... with as many bytes in each
  growing,        ///< the same with more bytes the greater the distance
  shrinking,      ///< the same with fewer bytes the greater the distance
  everywhere,     ///< of all nodes, to others at all distances at once
  bine_doubling,  ///< as doubling, at the distances 1, 1, 3, 5, 11, ...
  bine_growing,
  bine_shrinking,
};
inline constexpr std::size_t flows = 10;

/// Times as long that the start of a round and its bytes take as between two far nodes while nothing else moves.
struct Factors {
  double start = 1;
  double bytes = 1;
  friend bool operator==(const Factors&, const Factors&) = default;
};

/// One level of the machine, as a choice of algorithms needs it.
struct LevelPace {
  double start = 0;    ///< of a round, in bytes that a rank could send meanwhile
  double message = 0;  ///< that a further message of a round costs at either end, in the same bytes
  double several = 1;  ///< messages that one rank exchanges at once as fast as one alone
  double shared = std::numeric_limits<double>::infinity();  ///< the same of all ranks of a node
  double one_way = 1;                                       ///< messages to one rank, or from it, as `several`
  double passing = 1;      ///< rate of a message whose receiver sends none back, over one that two exchange
  double through = 16384;  ///< of a round of a pipeline, in the same bytes: see pipeline_chunks()
  std::array<Factors, flows> factors{};  ///< of the network, by Flow
};

/// Whether the phases of a hierarchical algorithm must combine in rank order, as an operation that does not commute
/// requires.
enum class KeepOrder : bool { no, yes };

/// How hierarchical algorithms weigh rounds against bytes when they choose those of their phases, and among which ones;
/// and how pipelines do when they choose the number of their chunks. Equal on all ranks.
struct Starts {
  LevelPace on_node{4096, 1024, 1, 16};
  LevelPace across{16384, 4096, 1, 1};
  double through = 16384;  ///< as LevelPace::through, in bytes that pass through all levels at hand meanwhile
  KeepOrder order = KeepOrder::yes;
};

/// One call as an algorithm sees it, without MPI and without addresses.
///
/// count is, in elements: the whole vector for bcast, reduce, allreduce, scan, exscan; one block for
/// reduce_scatter_block, gather, scatter, allgather, alltoall (their buffers have `size` blocks).
///
/// The v-forms use the spans instead, in elements, with displacements into the user's buffer:
///   gatherv      send_count; at the root recv_counts, recv_displs (size entries), elsewhere empty
///   scatterv     recv_count; at the root send_counts, send_displs, elsewhere empty
///   allgatherv   recv_counts, recv_displs on every rank
///   alltoallv    send_counts, send_displs, recv_counts, recv_displs: this rank's own
///   reduce_scatter   recv_counts on every rank
struct Problem {
  int rank = 0;
  int size = 1;
  int root = 0;
  std::size_t count = 0;
  /// Bytes of an element, equal on all ranks. Algorithms that cut a vector into chunks choose their number by it.
  std::size_t element_size = 1;
  std::size_t send_count = 0;
  std::size_t recv_count = 0;
  std::span<const std::size_t> send_counts{};
  std::span<const std::size_t> send_displs{};
  std::span<const std::size_t> recv_counts{};
  std::span<const std::size_t> recv_displs{};
  const NodeMap* node_of = nullptr;  ///< the node of each rank; null or empty: all are on one
  /// The phases on a node are exchanges over its shared memory, not messages.
  bool shares_nodes = false;
  Starts starts{};
  /// If the algorithm tells counts: those of all ranks of this rank's node, a row a rank, in rank order. A row is
  /// send_count of gatherv, recv_count of scatterv, and send_counts and then recv_counts of alltoallv.
  std::span<const std::size_t> told{};
  /// Mean size of the blocks between two nodes, in bytes, up to which such an algorithm joins them to one message.
  /// Equal on all ranks.
  std::size_t joined_bytes = std::numeric_limits<std::size_t>::max();
};

/// The counts in the row of one rank.
[[nodiscard]] constexpr std::size_t told_by_rank(Operation operation, int size) {
  return operation == Operation::alltoallv ? 2 * static_cast<std::size_t>(size) : 1;
}

/// The counts that a rank tells the others of its node: its row of Problem::told.
[[nodiscard]] inline std::vector<std::size_t> told_row(Operation operation, const Problem& p) {
  if (traits_of(operation).given == BlockKind::own) return {p.send_count};
  if (traits_of(operation).taken == BlockKind::own) return {p.recv_count};
  std::vector<std::size_t> row(p.send_counts.begin(), p.send_counts.end());
  row.insert(row.end(), p.recv_counts.begin(), p.recv_counts.end());
  return row;
}

}  // namespace tutti::schedules
