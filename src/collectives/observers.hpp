// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/summary.hpp"
#include "collectives/checked_execution.hpp"
#include "collectives/checksums.hpp"
#include "core/stopwatch.hpp"
#include "diagnosis/recorder.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The observers of one call, whether it is a collective, one of neighbours or messages.
struct Observers {
  flight::Note note{};                ///< of the flight recorder
  std::unique_ptr<Checksums> sums{};  ///< null: the recorder has none, or not of this call
  Tally* tally = nullptr;             ///< of TUTTI_LOG=summary; null: the call is not counted
  std::uint64_t bytes = 0;            ///< that the tally counts

  void count(Summary& summary, std::string_view operation, CallKind kind, const std::string& way,
             std::uint64_t its_bytes) {
    tally = &summary.tally_of(operation, kind, way, its_bytes);
    bytes = its_bytes;
  }
};

[[nodiscard]] constexpr flight::Form form_of(CallKind kind) {
  if (kind == CallKind::blocking) return flight::Form::blocking;
  return kind == CallKind::nonblocking ? flight::Form::nonblocking : flight::Form::init;
}

/// Writes a call to the flight recorder. facts(): asked for only if calls are recorded.
template <typename FactsOf>
[[nodiscard]] flight::Note noted(const Context& comm, CallKind kind, const FactsOf& facts) {
  flight::Recorder* recorder = comm.flight.recorder();
  if (recorder == nullptr) return {};
  const bool is_outstanding = kind == CallKind::nonblocking;
  return {recorder, recorder->begin(facts(), is_outstanding ? flight::State::outstanding : flight::State::running)};
}

/// Observes a blocking call, or the start of a nonblocking one, to the end of the scope. It has failed unless it is
/// told otherwise.
class Observed {
 public:
  explicit Observed(const Observers& by) : by_(by), recording_(by.note) {
    if (by_.sums != nullptr) [[unlikely]]
      by_.sums->sum_given(by_.note);
    if (by_.tally != nullptr) [[unlikely]]
      watch_.emplace();
  }
  ~Observed() {
    if (watch_) [[unlikely]]
      by_.tally->add(by_.bytes, watch_->seconds());
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  void succeed() noexcept {
    if (by_.sums != nullptr) [[unlikely]]
      by_.sums->sum_taken(by_.note);
    recording_.succeed();
  }
  /// Leaves the end to an execution that has the note.
  void hand_over() noexcept { recording_.hand_over(); }

 private:
  const Observers& by_;
  flight::Recording recording_;
  std::optional<Stopwatch> watch_{};
};

/// The execution of a nonblocking or persistent call, which make() makes and gives to summed(), before the packing of
/// buffers with layouts. watch: in check mode. A persistent call is done when it is made, and its execution records the
/// starts.
template <typename Make>
[[nodiscard]] std::shared_ptr<Execution> make_observed(const ContextPtr& comm, CallKind kind, Observers&& by,
                                                       std::optional<Watch>&& watch, const Make& make) {
  flight::Recording recording(by.note);
  Checksums* sums = by.sums.get();
  const auto summed = [&](std::shared_ptr<Execution> inner) -> std::shared_ptr<Execution> {
    if (sums == nullptr) [[likely]]
      return inner;
    return std::make_shared<PackedExecution>(comm, std::move(inner), std::move(by.sums));
  };
  std::shared_ptr<Execution> execution = make(summed);
  if (watch) [[unlikely]]
    execution = std::make_shared<CheckedExecution>(comm, std::move(execution), std::move(*watch));
  if (sums != nullptr) [[unlikely]]
    sums->follow(*execution);
  if (by.tally != nullptr) execution->count_in(*by.tally, by.bytes);
  if (kind == CallKind::persistent) {
    execution->record_starts(by.note);
    recording.succeed();
  } else {
    execution->keep(by.note);
    recording.hand_over();
  }
  return execution;
}

}  // namespace tutti::detail
