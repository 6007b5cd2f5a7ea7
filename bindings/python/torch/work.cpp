// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <c10/util/Exception.h>

#include <list>
#include <string>
#include <thread>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::process_group {
namespace {

thread_local bool is_thread_of_lane = false;
thread_local const Lane* performing = nullptr;

c10::intrusive_ptr<c10::ivalue::Future> make_future(const C10dCall& call) {
  std::vector<c10::Device> devices;
  if (!call.outputs.empty() && call.outputs[0].is_cuda()) devices.push_back(call.outputs[0].device());
  return c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()), std::move(devices));
}

std::optional<std::vector<at::Tensor>> profiled(const C10dCall& call) {
  if (call.inputs.empty()) return std::nullopt;
  return call.inputs;
}

}  // namespace

std::exception_ptr translate(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& failed) {
    // PyTorch's programs look for the word.
    const std::string text =
        std::string(failed.code() == ErrorCode::timeout ? "tutti: timeout in " : "") + failed.what();
    return std::make_exception_ptr(
        c10::DistBackendError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)}, text));
  } catch (...) {
    return error;
  }
}

void keep_forever(std::function<void()> body) {
  static std::mutex mutex;
  static auto* const kept = new std::list<std::function<void()>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(body));
}

bool Lane::on_thread_of_lane() { return is_thread_of_lane; }

Work::Work(int rank, C10dCall call, std::uint64_t number)
    : c10d::Work(rank, call.type, call.title, profiled(call)),
      call_(std::move(call)),
      number_(number),
      future_(make_future(call_)) {}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFutureResult() {
  auto result = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
  future_->addCallback([result](c10::ivalue::Future& done) {
    result->markCompleted(c10::IValue(
        static_cast<std::int64_t>(done.hasError() ? c10d::WorkResult::COMM_ERROR : c10d::WorkResult::SUCCESS)));
  });
  return result;
}

bool Work::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return completed_ && !exception_;
}

void Work::complete(std::exception_ptr error) {
  // Waiters may go on before callbacks, which may take the interpreter's lock from them.
  if (error)
    future_->setError(error);
  else
    future_->markCompleted(c10::IValue(call_.outputs));
  finish(std::move(error));
}

void Work::rethrow() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    error = exception_;
  }
  if (error) std::rethrow_exception(error);
}

bool Work::sleep_until_done(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, done);
  } else if (!cv_.wait_for(lock, timeout, done)) {
    C10_THROW_ERROR(DistBackendError, c10::str("tutti: wait timed out after ", timeout.count(), " ms"));
  }
  lock.unlock();
  rethrow();
  return true;
}

void LaneWork::execute() noexcept {
  std::exception_ptr error;
  try {
    const at::NoGradGuard no_grad;
    body_();
    body_ = nullptr;
  } catch (...) {
    error = translate(std::current_exception());
    keep_forever(std::move(body_));
  }
  complete(std::move(error));
}

bool LaneWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) lane_->help(*this, [this] { return isCompleted(); });
  return sleep_until_done(timeout);
}

c10::intrusive_ptr<LaneWork> Lane::next() {
  const std::lock_guard lock(mutex_);
  if (queued_.empty()) return {};
  auto work = std::move(queued_.front());
  queued_.pop_front();
  return work;
}

bool Lane::in_callback() const { return performing == this; }

void Lane::perform(LaneWork& work) const {
  const Lane* const outer = std::exchange(performing, this);
  work.execute();
  performing = outer;
}

void Lane::drain() {
  while (const auto work = next()) perform(*work);
}

void Lane::run(LaneWork& work) {
  const std::lock_guard lock(running_);
  if (!in_callback()) drain();
  perform(work);
}

void Lane::queue(c10::intrusive_ptr<LaneWork> work) {
  if (in_callback()) return perform(*work);
  const std::lock_guard lock(mutex_);
  queued_.push_back(std::move(work));
  if (!has_thread_) {
    std::thread([lane = shared_from_this()] { serve(lane); }).detach();
    has_thread_ = true;
  }
  added_.notify_one();
}

void Lane::help(const LaneWork&, const std::function<bool()>& done) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock) return;
  while (!done()) {
    const auto work = next();
    if (!work) return;
    perform(*work);
  }
}

void Lane::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  added_.notify_one();
  const std::lock_guard lock(running_);
  drain();
}

void Lane::serve(const std::shared_ptr<Lane>& lane) {
  is_thread_of_lane = true;
  for (;;) {
    {
      std::unique_lock lock(lane->mutex_);
      lane->added_.wait(lock, [&] { return lane->closed_ || !lane->queued_.empty(); });
      if (lane->queued_.empty()) return;
    }
    // Under the lock that orders calls: a call that has left the queue has begun.
    const std::lock_guard lock(lane->running_);
    if (const auto work = lane->next()) lane->perform(*work);
  }
}

}  // namespace tutti::process_group
