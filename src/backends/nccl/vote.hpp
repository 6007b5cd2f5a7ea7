// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call/context.hpp"

namespace tutti::detail::nccl {

/// A vote on success on all ranks, in which a rank that fails must stop the ranks that would wait for it. Every rank
/// casts one vote; rank 0 informs all ranks as soon as one has failed or all have succeeded. The constructor is
/// collective, in the same order on all ranks; nothing blocks. One vote at a time per communicator.
class Vote {
 public:
  struct Decision {
    bool success = false;
    std::string why{};  ///< "rank 1: …", of the lowest failed rank that was known
  };

  /// After `patience` (0: never) rank 0 decides without the ranks that have not voted, and the other ranks decide
  /// without rank 0.
  Vote(const Context& comm, std::chrono::nanoseconds patience);
  ~Vote();
  Vote(const Vote&) = delete;
  Vote& operator=(const Vote&) = delete;

  void cast(bool success, std::string_view why);
  [[nodiscard]] bool has_cast() const noexcept { return has_cast_; }
  /// The decision, once known.
  [[nodiscard]] std::optional<Decision> poll();
  /// Returns true once no message is in flight. Poll it before destruction.
  [[nodiscard]] bool is_settled();

 private:
  struct Ballot {
    int rank = 0;
    int success = 0;
    std::array<char, 504> why{};
  };
  struct Messages {
    std::vector<Ballot> ballots{};  ///< votes of all ranks, on rank 0
    Ballot decision{};
    std::vector<MPI_Request> incoming{};
    std::vector<MPI_Request> outgoing{};
  };
  void decide(const Ballot& ballot);
  [[nodiscard]] bool is_expired() const;
  [[nodiscard]] std::optional<Ballot> count();

  const Context* comm_;
  int tag_;
  std::chrono::nanoseconds patience_;
  std::chrono::steady_clock::time_point begin_;
  bool has_cast_ = false;
  bool is_decided_ = false;
  std::unique_ptr<Messages> messages_;
};

}  // namespace tutti::detail::nccl
