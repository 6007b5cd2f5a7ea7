// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tutti/error.hpp>
#include <vector>

#include "call/call_exchange.hpp"
#include "call/late_communicator.hpp"
#include "call/message_check.hpp"
#include "check/record_channel.hpp"
#include "operation/binding.hpp"
#include "operation/call_record.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

struct Context;

/// Check mode of one communicator: all ranks compare each collective call. A blocking call is compared before it moves
/// data; a nonblocking or persistent one is published when it is made, and compared once the other ranks have made
/// theirs.
class Check {
 public:
  /// Collective, blocking.
  explicit Check(Context& context, bool all_bytes);
  ~Check();
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  /// Publishes a call of this rank; returns its number.
  std::uint64_t note(const Signature& signature, const Binding& binding, bool has_stream);
  std::uint64_t note(flight::Call call, CallKind kind);
  /// Tells the other ranks that this one ends a call with an error before it has published it.
  void refuse(flight::Call call) noexcept;
  /// Waits until all ranks have made this call and those before it, and compares them. Throws Error(mismatch), or
  /// Error(timeout) that names a missing rank.
  void settle(std::uint64_t number, std::chrono::nanoseconds timeout);
  /// Does what it can without waiting. Returns true once the call is compared. Throws Error(mismatch).
  [[nodiscard]] bool compare(std::uint64_t number);

  /// note() and settle() of a blocking call.
  void meet(const Signature& signature, const Binding& binding, bool has_stream, std::chrono::nanoseconds timeout);
  void meet(flight::Call call, std::chrono::nanoseconds timeout) { settle(note(call, CallKind::blocking), timeout); }

  /// For Context: a failed call has broken the communicator; its end.
  void fail(ErrorCode code, const std::string& reason) noexcept;
  void close(bool is_good) noexcept;

  /// Check mode of its messages.
  [[nodiscard]] MessageCheck& messages() noexcept { return messages_; }
  /// Whether buffers are compared in whole.
  [[nodiscard]] bool all_bytes() const noexcept { return all_bytes_; }
  /// The record of the call that was noted last. Only by the thread that noted it.
  [[nodiscard]] const CallRecord& last() const noexcept { return mine_; }
  [[nodiscard]] const SiteRecord& made_at() const noexcept { return made_at_; }

 private:
  /// A call that is not compared yet.
  struct Pending {
    std::uint64_t number = 0;
    CallRecord record{};
    std::vector<std::uint64_t> sizes{};
    bool is_published = false;
    std::vector<int> left{};  ///< ranks that it is not compared with yet
  };

  std::uint64_t note_locked(const Signature& signature, const Binding& binding, bool has_stream);
  std::uint64_t add(const CallFacts& facts, const Signature* signature, const Binding* binding);
  /// Publishes and compares as far as possible; under the lock. Throws Error(mismatch).
  void go_on();
  [[nodiscard]] bool compare_with_all(Pending& call);
  void compare_with(const Pending& call, int rank, const CallRecord& theirs);
  /// Sizes of blocks differ between any two ranks of a call whose facts are equal.
  void compare_sizes(const Pending& call);
  [[nodiscard]] BlockSizes sizes_of(const Pending& call) const;
  [[noreturn]] void throw_mismatch(const Pending& call, const std::string& difference);
  [[noreturn]] void throw_missing(std::uint64_t number, std::chrono::nanoseconds timeout);
  void throw_failure_of_others();
  void close_channel() noexcept;

  Context& context_;
  const bool all_bytes_;
  SiteRecord made_at_;
  std::mutex mutex_;
  LateCommunicator comm_{"the records of check mode"};
  check::RecordChannel channel_{};
  std::unique_ptr<CallExchange> exchange_;  ///< null: one rank
  MessageCheck messages_;
  CallRecord mine_{};
  std::uint64_t made_ = 0;
  std::uint64_t settled_ = 0;  ///< calls with lower numbers are compared
  std::deque<Pending> pending_;
  std::optional<Error> verdict_;
};

}  // namespace tutti::detail
