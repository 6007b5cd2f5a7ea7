// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/pending_input.hpp"

#include <algorithm>
#include <cstring>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

namespace tutti::detail {

namespace {

std::int64_t layout_and_type(const EmbeddingInput& input) {
  return 2 * static_cast<std::int64_t>(input.layout) + static_cast<std::int64_t>(input.index_type);
}

}  // namespace

void PendingInput::begin(const EmbeddingInput& input) {
  batch_ = input.batch;
  input_ = input;
  fault_ = find_fault(*facts_, input);
  stage_ = Stage::waiting;
  if (fault_) return;
  lookups_.set_type(input.index_type);
  if (has_all_samples()) {
    lookups_.take_global(input);
  } else {
    lookups_.take_own(input, 0);
    exchange_.pack(input);
  }
}

void PendingInput::start_agreement(const Communicator& comm) {
  const auto batch = static_cast<std::int64_t>(batch_);
  words_ = {fault_ ? facts_->ranks - facts_->rank : 0, batch, -batch, layout_and_type(input_),
            -layout_and_type(input_)};
  if (facts_->ranks > 1) request_ = iallreduce(comm, words_, max, {.memory = MemoryKind::host});
  stage_ = Stage::agreeing;
}

void PendingInput::end_agreement(const Communicator& comm) {
  if (words_[0] > 0) return start_report(comm, facts_->ranks - static_cast<int>(words_[0]));
  if (words_[1] != -words_[2] || words_[3] != -words_[4]) {
    const bool batches = words_[1] != -words_[2];
    fault_ = Fault{ErrorCode::mismatch, batches ? "embedding input: ranks pass batches of " +
                                                      std::to_string(-words_[2]) + " to " + std::to_string(words_[1]) +
                                                      " samples; pass the size of the global batch"
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

void PendingInput::start_report(const Communicator& comm, int reporter) {
  message_.fill(0);
  if (reporter == facts_->rank) {
    const auto code = static_cast<std::int32_t>(fault_->code);
    std::memcpy(message_.data(), &code, sizeof(code));
    const std::size_t room = message_.size() - sizeof(code) - 1;
    std::memcpy(message_.data() + sizeof(code), fault_->text.data(), std::min(room, fault_->text.size()));
  }
  if (facts_->ranks > 1)
    request_ = ibcast(comm, Buffer(message_.data(), message_.size()), reporter, {.memory = MemoryKind::host});
  stage_ = Stage::reporting;
}

void PendingInput::end_report() {
  std::int32_t code = 0;
  std::memcpy(&code, message_.data(), sizeof(code));
  fault_ = Fault{static_cast<ErrorCode>(code), std::string(message_.data() + sizeof(code))};
  stage_ = Stage::done;
}

void PendingInput::step(const Communicator& comm) {
  switch (stage_) {
    case Stage::waiting:
      return start_agreement(comm);
    case Stage::agreeing:
      return end_agreement(comm);
    case Stage::reporting:
      return end_report();
    case Stage::lengths:
      request_ = exchange_.start_indices(comm);
      stage_ = Stage::indices;
      return;
    case Stage::indices:
      stage_ = facts_->options.weighted ? Stage::weights : Stage::done;
      if (stage_ == Stage::weights) {
        request_ = exchange_.start_weights(comm);
      } else {
        exchange_.unpack(lookups_);
      }
      return;
    case Stage::weights:
      exchange_.unpack(lookups_);
      stage_ = Stage::done;
      return;
    case Stage::done:
      return;
  }
}

bool PendingInput::advance(const Communicator& comm, bool wait) {
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

InputQueue::InputQueue(const Communicator& comm) {
  if (comm.size() > 1) comm_ = comm.split(0, comm.rank());
}

void InputQueue::push(PendingInput& input) {
  pending_.push_back(&input);
  progress();
}

void InputQueue::progress() {
  while (!pending_.empty() && pending_.front()->advance(comm_, false)) pending_.pop_front();
}

void InputQueue::complete(const PendingInput& input) {
  while (std::find(pending_.begin(), pending_.end(), &input) != pending_.end()) {
    pending_.front()->advance(comm_, true);
    pending_.pop_front();
  }
}

}  // namespace tutti::detail
