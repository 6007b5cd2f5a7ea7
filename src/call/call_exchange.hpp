// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "check/record_channel.hpp"
#include "operation/call_record.hpp"

namespace tutti::detail {

struct Context;

/// The failure of a rank, which ends the waits of the others.
struct RankFailure {
  int rank = -1;  ///< -1: none
  int code = 0;
  std::string reason{};
};

/// Carries the records of check mode between the ranks of one communicator. Calls are numbered from 0; each rank
/// publishes and forgets them in this order. No function blocks. Used under the lock of its Check.
class CallExchange {
 public:
  CallExchange() = default;
  virtual ~CallExchange() = default;
  CallExchange(const CallExchange&) = delete;
  CallExchange& operator=(const CallExchange&) = delete;

  /// Gives a call of this rank to all others. Returns false if there is no room before older calls are forgotten.
  [[nodiscard]] virtual bool publish(std::uint64_t number, const CallRecord& record, const BlockSizes& sizes) = 0;
  /// Another rank's record of a call that this rank has published, and the sizes that came with it; null if it has not
  /// come yet. Valid until the call is forgotten.
  [[nodiscard]] virtual const CallRecord* find(std::uint64_t number, int rank) = 0;
  [[nodiscard]] virtual BlockSizes sizes_of(std::uint64_t number, int rank) = 0;
  /// This rank needs the records of the call no more.
  virtual void forget(std::uint64_t number) = 0;
  /// The last call of a rank that is known before a number; null: none.
  [[nodiscard]] virtual const CallRecord* last_before(std::uint64_t /*number*/, int /*rank*/) { return nullptr; }
  /// Tells the other ranks, if it can, that this one has failed. From any thread.
  virtual void fail(int /*code*/, const std::string& /*reason*/) noexcept {}
  [[nodiscard]] virtual RankFailure failure() const { return {}; }
  [[nodiscard]] virtual bool has_failure() const noexcept { return false; }
  /// Whether a record of the end of the communicator may be published, although nobody reads it in correct programs.
  [[nodiscard]] virtual bool tells_end() const noexcept { return false; }
};

/// The number of ranks up to which sizes of blocks travel with the records: there are two per pair of ranks.
inline constexpr int most_compared_ranks = 64;

/// Over shared memory if all ranks can map it, else by records. Collective, blocking.
[[nodiscard]] std::unique_ptr<CallExchange> make_call_exchange(const Context& context, check::RecordChannel& channel);
/// Null, with the problem in words, on all ranks if there is no shared memory. Collective, blocking.
[[nodiscard]] std::unique_ptr<CallExchange> share_calls(const Context& context, std::string& problem);

}  // namespace tutti::detail
