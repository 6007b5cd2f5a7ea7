// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tutti/operation.hpp>
#include <vector>

#include "simulation/prices.hpp"

namespace tutti::simulation {

/// A call as another library makes it inside a node, over memory that all ranks share: short programs after published
/// descriptions, without what those libraries do beside their lines.
class NodePeer {
 public:
  NodePeer() = default;
  virtual ~NodePeer() = default;
  NodePeer(const NodePeer&) = delete;
  NodePeer& operator=(const NodePeer&) = delete;
  [[nodiscard]] virtual std::string name() const = 0;
  /// What a rank does; all ranks call it equally often.
  virtual void make(int rank, const double* in, double* out) = 0;
  [[nodiscard]] virtual void* memory() = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
};

struct PeerCall {
  Operation operation;
  std::size_t bytes;
  const Prices& prices;
  int ranks;
};

/// The peers: xhc, acoll, release_gather, ext_mpi.
[[nodiscard]] const std::vector<std::string>& peer_names();
/// The variants of a peer that can make a call, of which the fastest counts: "xhc:8,96,192".
[[nodiscard]] std::vector<std::string> variants_of(const std::string& peer, const PeerCall& call);
/// variant: one of these. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<NodePeer> make_peer(const std::string& variant, const PeerCall& call);

}  // namespace tutti::simulation
