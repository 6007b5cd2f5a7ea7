// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/outstanding.hpp"
#include "check/receive_shadow.hpp"
#include "collectives/compared_messages.hpp"
#include "diagnosis/site.hpp"
#include "operation/buffer_use.hpp"

namespace tutti::detail {

using ReceiveShadows = std::vector<std::unique_ptr<ReceiveShadow>>;

/// A call in words that are put together when they are needed.
struct CallWords {
  std::string call;  ///< "iallreduce(float32, count 4, sum)"
  SiteRecord site{};
};

/// A call as check mode watches it on this rank.
struct Watch {
  BufferUses uses{};
  ReceiveShadows shadows{};  ///< those that its execution writes
  CallWords words{};
  std::optional<std::uint64_t> number{};         ///< of a collective, in the communicator's check
  std::unique_ptr<ComparedMessages> messages{};  ///< null: a collective
};

/// The watch of the collective that this rank has just told the others of, under that number.
[[nodiscard]] Watch watch_of(const Context& comm, std::uint64_t number, BufferUses&& uses, ReceiveShadows&& shadows);

/// An execution in check mode: runs another one, compares its call with those of the other ranks, and watches its
/// buffers from the start until its owner has seen the end.
class CheckedExecution final : public Execution, public OutstandingCall {
 public:
  CheckedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, Watch&& watch);
  ~CheckedExecution() override;

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  void announce_backoff() noexcept override { inner_->announce_backoff(); }
  void backoff() noexcept override { inner_->backoff(); }
  /// The call moves data there, and is compared in the library's own calls.
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override {
    return watch_.messages == nullptr && inner_->goes_on_inside_mpi();
  }
  bool order_before(device::StreamHandle stream) override { return is_compared_ && inner_->order_before(stream); }
  [[nodiscard]] bool will_order() const noexcept override { return is_compared_ && inner_->will_order(); }
  /// Throws Error(invalid_argument) if the program has changed a buffer of the call since its start.
  void verify() const override;
  void give_up() noexcept override { is_given_up_ = true; }

  [[nodiscard]] bool is_outstanding() const override {
    return phase() == Phase::active || (phase() == Phase::done && !is_seen_ && !is_given_up_);
  }
  [[nodiscard]] std::string words() const override;
  [[nodiscard]] const BufferUses& uses() const override { return watch_.uses; }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  /// The other ranks of a collective begin it.
  [[nodiscard]] bool breaks_communicator() const noexcept override { return watch_.number.has_value(); }
  [[nodiscard]] bool compare();
  [[noreturn]] void throw_changed(std::string_view buffer, std::string_view remedy) const;

  std::shared_ptr<Execution> inner_;
  Watch watch_;
  std::vector<std::uint64_t> fingerprints_{};
  bool is_compared_ = false;
  mutable std::atomic<bool> is_seen_{false};
  std::atomic<bool> is_given_up_{false};
};

/// Throws Error(invalid_argument) if a call of this process is outstanding that uses the same memory, and one of both
/// writes it. call: in words, for the text.
void require_free(const Context& comm, const BufferUses& uses, const CallWords& call,
                  const OutstandingCall* self = nullptr);
/// The same for a collective; refuse() tells the other ranks before the throw.
template <typename Refuse>
void require_free(const Context& comm, const BufferUses& uses, std::string call, const Refuse& refuse) {
  try {
    require_free(comm, uses, CallWords{std::move(call), {}});
  } catch (...) {
    refuse();
    throw;
  }
}

}  // namespace tutti::detail
