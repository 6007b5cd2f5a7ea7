// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "check/messages.hpp"
#include "watch/communicators.hpp"
#include "watch/record.hpp"
#include "watch/signature.hpp"

namespace tutti::preload {

/// What a message has, or what a receive has room for.
struct Content {
  Signature signature{};
  std::string type{};  ///< its name
};
/// Nothing if the MPI refuses it.
[[nodiscard]] std::optional<Content> content_of(MPI_Datatype type, MPI_Count count);

/// Compares the datatypes of the program's messages under TUTTI_CHECK. Any thread.
class MessageTypes {
 public:
  /// Before the send of a message to a rank of the communicator.
  void send(const Watched& comm, int to, int tag, const Content& content, const std::string& place);
  /// Before a receive, of elements of a content; returns its number.
  [[nodiscard]] std::uint64_t post(const Watched& comm, int from, int tag, const Content& element,
                                   const std::string& place);
  /// After it. Returns the difference in words, or an empty text.
  [[nodiscard]] std::string complete(std::uint64_t number, const MPI_Status& status);
  /// A receive whose message is not known.
  void drop(std::uint64_t number);
  /// A message that MPI_Mprobe has matched.
  void take(const Watched& comm, const MPI_Status& status);
  /// A send that is cancelled: its receiver compares no more messages of this communicator.
  void withdraw(const Watched& comm, int to);
  /// The messages that this rank has not received, in words. Once all records have come.
  [[nodiscard]] std::vector<std::string> left();

 private:
  struct Posted {
    std::uint64_t mark = 0;
    int rank = 0;  ///< of the receiver
    std::string comm{};
    Content element{};
    std::string place{};
  };
  /// Forgets a receive.
  [[nodiscard]] std::optional<Posted> take_posted(std::uint64_t number);

  std::mutex mutex_{};
  tutti::detail::check::Messages messages_{channel()};
  std::map<std::uint64_t, Posted> posted_{};
};

[[nodiscard]] MessageTypes& message_types();

}  // namespace tutti::preload
