// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "watch/letter.hpp"

namespace tutti::preload {

/// Letters between the ranks of MPI_COMM_WORLD, on a communicator of their own, so that they come past each message of
/// the program. Any thread, as far as the MPI allows threads.
class Mailbox {
 public:
  /// Collective over MPI_COMM_WORLD.
  void open();
  /// Waits until all letters have come. Collective over MPI_COMM_WORLD, blocking; the last use but take() and close().
  void settle();
  void close();
  void send(const Letter& letter, int to);
  /// The letter of a rank about a call, once it has come; the mailbox forgets it.
  [[nodiscard]] std::optional<Letter> take(std::uint64_t mark, std::uint32_t sequence, int sender);
  /// The same for a message of a rank of the communicator: of those that have come, the one after so many others.
  [[nodiscard]] std::optional<Letter> take_message(std::uint64_t mark, int sender, int tag, int before);
  /// Whether a message of a communicator to this rank is cancelled.
  [[nodiscard]] bool is_withdrawn(std::uint64_t mark);
  /// Letters of messages that nobody has taken.
  [[nodiscard]] std::vector<Letter> messages_left();

 private:
  struct Sent {
    Letter letter;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void receive();
  void look();

  std::mutex mutex_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  Letter arriving_{};
  MPI_Request arrival_ = MPI_REQUEST_NULL;
  std::list<Sent> sent_{};
  std::vector<std::int32_t> sent_to_{};  ///< letters to each rank
  std::int32_t received_ = 0;
  std::set<std::uint64_t> withdrawn_{};  ///< marks of communicators
  std::map<std::tuple<std::uint64_t, std::uint32_t, int>, Letter> come_{};
  std::map<std::tuple<std::uint64_t, int, int>, std::deque<Letter>> messages_{};  ///< by mark, sender and tag
};

[[nodiscard]] Mailbox& mailbox();

}  // namespace tutti::preload
