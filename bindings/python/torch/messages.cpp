// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include <sched.h>

#include <thread>
#include <tutti/error.hpp>
#include <tutti/point_to_point.hpp>

#include "tensors.hpp"

namespace tutti::process_group {

bool Message::wait(std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  constexpr int busy_tests = 2000;
  const auto end = Clock::now() + timeout;
  ++group_->waiting();
  for (int tests = 0; !isCompleted() && (timeout == kNoTimeout || Clock::now() < end); ++tests) {
    group_->advance();
    if (tests < busy_tests)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  --group_->waiting();
  return sleep_until_done(timeout == kNoTimeout ? timeout : std::chrono::milliseconds(1));
}

void Messages::post(Message& message, int peer, int tag, bool sends) {
  Options options;
  options.timeout = message.call().timeout;
  at::Tensor& tensor = message.call().outputs[0];
  auto held = std::make_shared<Contiguous>(tensor, sends);
  const Buffer typed = held->buffer();
  const Buffer bytes(typed.data, tensor.nbytes(), Datatype(DatatypeKind::uint8), typed.memory);
  message.request_ = sends ? isend(comm_, bytes, peer, tag, options) : irecv(comm_, bytes, peer, tag, options);
  message.store_ = [held, sends] {
    if (!sends) held->store();
  };
}

void Messages::start(const c10::intrusive_ptr<Message>& message, int peer, int tag, bool sends) {
  const std::lock_guard lock(mutex_);
  post(*message, peer, tag, sends);
  pending_.push_back(message);
  if (!has_thread_) {
    std::thread([self = shared_from_this()] { serve(self); }).detach();
    has_thread_ = true;
  }
  added_.notify_one();
}

void Messages::advance() {
  std::vector<std::pair<c10::intrusive_ptr<Message>, std::exception_ptr>> done;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (std::size_t i = 0; i < pending_.size();) {
      Message& message = *pending_[i];
      std::exception_ptr error;
      bool ended = true;
      try {
        ended = message.request_.test();
        if (ended) message.source_ = message.request_.status().source;
      } catch (...) {
        error = translate(std::current_exception());
      }
      if (!ended) {
        ++i;
        continue;
      }
      done.emplace_back(std::move(pending_[i]), std::move(error));
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (auto& [message, error] : done) {
    const at::NoGradGuard no_grad;
    if (error)
      keep_forever(std::move(message->store_));
    else
      message->store_();
    message->complete(std::move(error));
  }
}

void Messages::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  added_.notify_one();
}

void Messages::serve(const std::shared_ptr<Messages>& messages) {
  // Long enough that a program which waits for its messages advances them itself.
  constexpr auto pause = std::chrono::microseconds(50);
  for (;;) {
    {
      std::unique_lock lock(messages->mutex_);
      messages->added_.wait(lock, [&] { return messages->closed_ || !messages->pending_.empty(); });
      if (messages->closed_) return;
    }
    std::this_thread::sleep_for(pause);
    if (messages->waiting_ == 0) messages->advance();
  }
}

}  // namespace tutti::process_group
