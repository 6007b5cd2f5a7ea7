// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "simulation/scheduler.hpp"
#include "simulation/weak_memory.hpp"

namespace tutti::simulation {

/// The host MPI of all ranks: messages, which arrive in order within a pair and in any order otherwise, and the few
/// collectives that the library asks of it. A long message needs both its ends inside MPI twice, as in an MPI without
/// threads of its own. mpi.cpp has MPI's functions.
class Messages {
 public:
  Messages(Scheduler& scheduler, int ranks, const Manner& manner);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// The messages of the run that goes on.
  [[nodiscard]] static Messages& current();

  using Handle = int;  ///< of a communicator or a request, from 1 on

  [[nodiscard]] Handle make_communicator(std::vector<int> members);
  [[nodiscard]] int rank_in(Handle comm) const;
  [[nodiscard]] int size_of(Handle comm) const { return static_cast<int>(communicator(comm).members.size()); }

  // Of the rank that runs. A peer is a rank of the communicator.
  [[nodiscard]] Handle send(Handle comm, int peer, int tag, const void* data, std::size_t bytes);
  [[nodiscard]] Handle receive(Handle comm, int peer, int tag, void* data, std::size_t bytes);
  /// Progress, and the end of a request. Sets `error` once it is over.
  [[nodiscard]] bool test(Handle request, int& error);
  void progress();
  void cancel(Handle request);
  void forget(Handle request);

  enum class Collective : std::uint8_t { broadcast, smallest_ints, greatest_ints, greatest_doubles, gather, duplicate };
  /// root: of a broadcast. made: of a duplicate.
  struct Part {
    const void* in = nullptr;
    void* out = nullptr;
    std::size_t bytes = 0;
    MPI_Comm* made = nullptr;
  };
  [[nodiscard]] Handle join(Handle comm, Collective what, int root, const Part& part);

  // For the environment
  [[nodiscard]] bool deliver(Random& random);
  /// The next message that has another one of the same kind behind it changes places with that.
  void swap_once() { swaps_ = true; }

  [[nodiscard]] bool is_empty() const { return requests_.empty(); }

 private:
  struct Communicator {
    std::vector<int> members;
    std::vector<std::uint64_t> joined;  ///< collectives, by member
  };
  struct Request {
    int rank = 0;
    Handle comm = 0;
    int peer = 0;  ///< of all ranks
    int tag = 0;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    bool done = false;
    int error = MPI_SUCCESS;
    Knowledge told{};  ///< to the rank, at its end
  };
  struct Message {
    Handle comm = 0;
    int from = 0;
    int to = 0;
    int tag = 0;
    std::vector<std::byte> data{};
    const std::byte* lent = nullptr;  ///< by a sender that waits for its receiver
    std::size_t bytes = 0;
    Handle sent_by = 0;
    Handle taken_by = 0;
    Knowledge told{};
  };
  struct Meeting {
    std::vector<Part> parts;
    std::vector<Handle> requests;
    std::vector<Knowledge> told{};
    std::size_t came = 0;
  };
  using MessagePtr = std::shared_ptr<Message>;

  [[nodiscard]] const Communicator& communicator(Handle comm) const {
    return communicators_[static_cast<std::size_t>(comm - 1)];
  }
  [[nodiscard]] Handle add(Request request);
  bool match(const MessagePtr& message);
  void accept(const MessagePtr& message, Handle taken_by);
  void finish(Handle request, int error = MPI_SUCCESS);
  void swap_within(std::deque<MessagePtr>& pair);
  void hold(Meeting& meeting, Handle comm, Collective what, int root);
  void tell_all(const Meeting& meeting, Collective what, int root);

  Scheduler& scheduler_;
  const Manner manner_;
  std::vector<Communicator> communicators_;
  std::map<Handle, Request> requests_;
  Handle last_request_ = 0;
  std::map<std::pair<int, int>, std::deque<MessagePtr>> flying_;  ///< by sender and receiver
  std::vector<std::deque<MessagePtr>> arrived_;                   ///< by receiver
  std::vector<std::deque<Handle>> posted_;                        ///< receives, by receiver
  std::vector<std::deque<MessagePtr>> asked_;                     ///< long messages whose receiver waits, by sender
  std::map<std::pair<Handle, std::uint64_t>, Meeting> meetings_;
  bool swaps_ = false;
};

}  // namespace tutti::simulation
