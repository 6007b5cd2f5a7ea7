// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/input_exchange.hpp"

namespace tutti::detail {

/// One batch's input on its way to lookups: checked here, agreed on by all ranks and, if each rank passes its own
/// samples only, exchanged. If any rank finds a fault, all ranks learn it and the batch is not exchanged.
class PendingInput {
 public:
  explicit PendingInput(const CollectionFacts& facts) : lookups_(facts), facts_(&facts), exchange_(facts) {}

  /// Local.
  void begin(const EmbeddingInput& input);
  /// Goes on as far as messages allow; with `wait`, to the end. Returns whether it is at the end. All ranks advance the
  /// same slots in the same order on `comm`, which nothing else uses.
  bool advance(const Communicator& comm, bool wait);
  /// Whether lookups() is complete, although the ranks may still find a fault.
  [[nodiscard]] bool readable() const { return !fault_ && (stage_ == Stage::done || has_all_samples()); }
  /// After the end: the fault that all ranks agree on, if there is one.
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] const BatchLookups& lookups() const { return lookups_; }
  [[nodiscard]] std::size_t batch() const { return batch_; }

 private:
  enum class Stage : std::uint8_t { waiting, agreeing, reporting, lengths, indices, weights, done };
  [[nodiscard]] bool has_all_samples() const { return input_.layout == InputLayout::global || facts_->ranks == 1; }
  void start_agreement(const Communicator& comm);
  void end_agreement(const Communicator& comm);
  void start_report(const Communicator& comm, int reporter);
  void end_report();
  void step(const Communicator& comm);

  BatchLookups lookups_;
  const CollectionFacts* facts_;
  InputExchange exchange_;
  EmbeddingInput input_;
  std::size_t batch_ = 0;
  Stage stage_ = Stage::done;
  Request request_;
  std::optional<Fault> fault_;
  std::array<std::int64_t, 5> words_{};
  std::array<char, 1024> message_{};  ///< a fault: its code in 4 bytes, then its text and a zero
};

/// The inputs of all slots that are still on their way, in the order in which they were started. They have a
/// communicator of their own, so that they advance at any time without meeting the exchanges of vectors.
class InputQueue {
 public:
  explicit InputQueue(const Communicator& comm);
  void push(PendingInput& input);
  /// Never blocks.
  void progress();
  /// Completes `input` and the inputs before it. Blocking.
  void complete(const PendingInput& input);

 private:
  Communicator comm_;
  std::deque<PendingInput*> pending_;
};

}  // namespace tutti::detail
