// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "watch/watch.hpp"

namespace tutti::preload {

/// How many of its requests a call waits for.
enum class Until : std::uint8_t { none, any, all };

/// A call of the program that completes requests, while calls are watched.
class Completion {
 public:
  /// Under TUTTI_CHECK, waits for the requests, and compares collectives meanwhile.
  Completion(int count, const MPI_Request* requests, Until until);
  /// A difference between ranks, or MPI_SUCCESS.
  [[nodiscard]] int code() const { return code_; }
  /// code: of the MPI, which has set the program's handles. Returns the code for the program.
  [[nodiscard]] int end(int code, const MPI_Request* requests) const;

 private:
  void compare_until(Until until);
  void look();

  std::vector<MPI_Request> before_;
  std::vector<std::optional<MPI_Status>> statuses_{};  ///< of those that were complete
  int code_ = MPI_SUCCESS;
};

/// Compares a message that has come with its receive. Returns the MPI's code of a difference, which the error handler
/// of MPI_COMM_WORLD has had.
[[nodiscard]] int check_received(std::uint64_t receive, const MPI_Status& status);

/// usual(): completes the requests, and returns the MPI's code.
template <typename Usual>
int watch_completion(int count, const MPI_Request* requests, Until until, const Usual& usual) {
  if (!is_watched() || requests == nullptr || count <= 0) [[likely]]
    return usual();
  const Completion completion(count, requests, until);
  return completion.code() != MPI_SUCCESS ? completion.code() : completion.end(usual(), requests);
}

}  // namespace tutti::preload
