// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tutti::standin {

using Bytes = std::vector<std::byte>;

/// The ranks of a stand-in communicator, and where its messages go.
struct Members {
  std::uint64_t id = 0;  ///< the same on all ranks, never used again
  int rank = 0;
  std::vector<int> world{};  ///< of each rank, the rank in the stand-in's own duplicate of MPI_COMM_WORLD
  [[nodiscard]] int size() const { return static_cast<int>(world.size()); }
};

enum class Channel : std::uint8_t { init, header, clear, body, connect, split, put };

/// The stand-in's own communicator, made at the first call; MPI_COMM_NULL while MPI is not initialised. Collective over
/// MPI_COMM_WORLD at the first call, and never freed: messages of aborted work may still be under way on it.
[[nodiscard]] MPI_Comm wire();
/// Whether this thread may send and receive on it.
[[nodiscard]] bool may_use_wire();
[[nodiscard]] int tag_of(std::uint64_t id, Channel channel);

/// Messages between the ranks of a communicator that belong together. A message leaves when its receiver is there, as
/// NCCL's do; all memory is the exchange's own, so that it can be given up at any moment.
class Exchange {
 public:
  explicit Exchange(const Members& members) : members_(&members) {}
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void send(int peer, const void* data, std::size_t bytes);
  /// The index of the message for received().
  std::size_t receive(int peer, std::size_t bytes);
  /// A small message that leaves at once, on another channel.
  void send_header(int peer, const Bytes& header, Channel channel = Channel::header);
  std::size_t receive_header(int peer, std::size_t bytes, Channel channel = Channel::header);
  /// Goes on without blocking; true when all is sent and received.
  [[nodiscard]] bool advance();
  [[nodiscard]] const Bytes& received(std::size_t index) const { return *incoming_[index].data; }
  /// What is wrong with the callers' messages; empty where nothing is.
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  struct Outgoing {
    int peer = 0;
    std::shared_ptr<Bytes> data{};
    std::uint64_t room = 0;  ///< what the receiver expects
    MPI_Request clear = MPI_REQUEST_NULL;
    MPI_Request body = MPI_REQUEST_NULL;
    bool is_posted = false;
  };
  struct Incoming {
    int peer = 0;
    std::shared_ptr<Bytes> data{};
    MPI_Request body = MPI_REQUEST_NULL;
  };
  void deliver_to_self();
  bool advance_outgoing();
  [[nodiscard]] int world_rank(int peer) const { return members_->world[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] int tag(Channel channel) const { return tag_of(members_->id, channel); }

  const Members* members_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_{};
  std::vector<Incoming> incoming_{};
  std::string violation_{};
  bool has_delivered_ = false;
};

/// Lets go of a request; the memory it uses is kept until the process ends.
void give_up(MPI_Request& request, std::shared_ptr<void> memory);
/// The same of a receive of a small message, which whoever sends it does not wait for.
void give_up_receive(MPI_Request& request, std::shared_ptr<void> memory);
/// A finished request, also MPI_REQUEST_NULL.
[[nodiscard]] bool is_done(MPI_Request& request);

}  // namespace tutti::standin
