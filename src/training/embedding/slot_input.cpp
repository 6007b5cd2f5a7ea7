// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/slot_input.hpp"

#include <algorithm>
#include <cstring>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

namespace tutti::detail {

namespace {

std::int64_t flavour(const EmbeddingInput& input) {
  return 2 * static_cast<std::int64_t>(input.layout) + static_cast<std::int64_t>(input.index_type);
}

}  // namespace

void SlotInput::begin(const EmbeddingInput& input) {
  batch_ = input.batch;
  input_ = input;
  fault_ = find_fault(*facts_, input);
  stage_ = Stage::waiting;
  if (fault_) return;
  bags_.set_type(input.index_type);
  if (has_all_samples()) {
    bags_.take_global(input);
  } else {
    bags_.take_own(input, 0);
    exchange_.pack(input);
  }
}

void SlotInput::start_agreement(const Communicator& comm) {
  const auto batch = static_cast<std::int64_t>(batch_);
  words_ = {fault_ ? facts_->ranks - facts_->rank : 0, batch, -batch, flavour(input_), -flavour(input_)};
  if (facts_->ranks > 1) request_ = iallreduce(comm, words_, max, {.memory = MemoryKind::host});
  stage_ = Stage::agreeing;
}

void SlotInput::end_agreement(const Communicator& comm) {
  if (words_[0] > 0) return start_telling(comm, facts_->ranks - static_cast<int>(words_[0]));
  if (words_[1] != -words_[2] || words_[3] != -words_[4]) {
    const bool batches = words_[1] != -words_[2];
    fault_ = InputFault{ErrorCode::mismatch,
                        batches ? "embedding input: ranks pass batches of " + std::to_string(-words_[2]) + " to " +
                                      std::to_string(words_[1]) + " samples; the batch is that of all ranks together"
                                : "embedding input: ranks pass different layouts or index types"};
    stage_ = Stage::done;
    return;
  }
  if (has_all_samples()) {
    stage_ = Stage::done;
    return;
  }
  request_ = exchange_.start_lengths(comm);
  stage_ = Stage::lengths;
}

void SlotInput::start_telling(const Communicator& comm, int teller) {
  message_.fill(0);
  if (teller == facts_->rank) {
    const auto code = static_cast<std::int32_t>(fault_->code);
    std::memcpy(message_.data(), &code, sizeof(code));
    const std::size_t room = message_.size() - sizeof(code) - 1;
    std::memcpy(message_.data() + sizeof(code), fault_->text.data(), std::min(room, fault_->text.size()));
  }
  if (facts_->ranks > 1)
    request_ = ibcast(comm, Buffer(message_.data(), message_.size()), teller, {.memory = MemoryKind::host});
  stage_ = Stage::telling;
}

void SlotInput::end_telling() {
  std::int32_t code = 0;
  std::memcpy(&code, message_.data(), sizeof(code));
  fault_ = InputFault{static_cast<ErrorCode>(code), std::string(message_.data() + sizeof(code))};
  stage_ = Stage::done;
}

void SlotInput::step(const Communicator& comm) {
  switch (stage_) {
    case Stage::waiting:
      return start_agreement(comm);
    case Stage::agreeing:
      return end_agreement(comm);
    case Stage::telling:
      return end_telling();
    case Stage::lengths:
      request_ = exchange_.start_indices(comm);
      stage_ = Stage::indices;
      return;
    case Stage::indices:
      stage_ = facts_->options.weighted ? Stage::weights : Stage::done;
      if (stage_ == Stage::weights) {
        request_ = exchange_.start_weights(comm);
      } else {
        exchange_.unpack(bags_);
      }
      return;
    case Stage::weights:
      exchange_.unpack(bags_);
      stage_ = Stage::done;
      return;
    case Stage::done:
      return;
  }
}

bool SlotInput::advance(const Communicator& comm, bool wait) {
  while (stage_ != Stage::done) {
    if (wait) {
      request_.wait();
    } else if (!request_.test()) {
      return false;
    }
    step(comm);
  }
  return true;
}

}  // namespace tutti::detail
