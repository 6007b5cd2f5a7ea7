// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>

#include "training/embedding/batch_bags.hpp"
#include "training/embedding/input_exchange.hpp"

namespace tutti::detail {

/// The way of one batch's input: checked here, agreed on by all ranks, and exchanged where each rank has its own
/// samples only. What a rank finds wrong is told to all, and nothing of the batch is exchanged then.
class SlotInput {
 public:
  explicit SlotInput(const CollectionFacts& facts) : bags_(facts), facts_(&facts), exchange_(facts) {}

  /// Local.
  void begin(const EmbeddingInput& input);
  /// Goes on as far as messages allow; with `wait` to the end. True at the end. All ranks advance the same slots in the
  /// same order on `comm`, which nothing else uses.
  bool advance(const Communicator& comm, bool wait);
  /// Whether bags() is complete, though the ranks may still find that they disagree.
  [[nodiscard]] bool readable() const { return !fault_ && (stage_ == Stage::done || has_all_samples()); }
  /// After the end: what all ranks found wrong, or nothing.
  [[nodiscard]] const std::optional<InputFault>& fault() const { return fault_; }
  [[nodiscard]] const BatchBags& bags() const { return bags_; }
  [[nodiscard]] std::size_t batch() const { return batch_; }

 private:
  enum class Stage : std::uint8_t { waiting, agreeing, telling, lengths, indices, weights, done };
  [[nodiscard]] bool has_all_samples() const { return input_.layout == InputLayout::global || facts_->ranks == 1; }
  void start_agreement(const Communicator& comm);
  void end_agreement(const Communicator& comm);
  void start_telling(const Communicator& comm, int teller);
  void end_telling();
  void step(const Communicator& comm);

  BatchBags bags_;
  const CollectionFacts* facts_;
  InputExchange exchange_;
  EmbeddingInput input_;
  std::size_t batch_ = 0;
  Stage stage_ = Stage::done;
  Request request_;
  std::optional<InputFault> fault_;
  std::array<std::int64_t, 5> words_{};
  std::array<char, 1024> message_{};  ///< the code in 4 bytes, then text that ends with 0
};

}  // namespace tutti::detail
