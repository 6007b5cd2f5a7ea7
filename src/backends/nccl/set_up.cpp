// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/set_up.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/nccl/launcher.hpp"
#include "backends/nccl/warm_up.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using Making = SetUp::Making;

constexpr const char* first_launches = "the first launches of NCCL";

device::LaunchMutex& launch_mutex(const CommBody& body) { return device::Traffic::of(body.device).launch_mutex(); }

void abort(CommBody& body) {
  if (body.handle != nullptr) (void)body.table.comm_abort(std::exchange(body.handle, nullptr));
}

/// NCCL does not block, and is asked how far it is.
class PolledSetUp final : public SetUp {
 public:
  PolledSetUp(std::shared_ptr<CommBody> body, Making making, int rank, int size)
      : body_(std::move(body)), making_(std::move(making)), rank_(rank), size_(size) {
    const std::lock_guard no_launch(launch_mutex(*body_));
    result_ = making_.call(*body_);
  }

  Result advance() override {
    if (result_ == Result::in_progress)
      result_ = warm_up_ ? warm_up_->advance() : asked().poll_between_launches().value_or(Result::in_progress);
    if (result_ == Result::success && !warm_up_ && size_ > 0) {
      warm_up_.emplace(*body_, rank_, size_);
      result_ = Result::in_progress;
    }
    return result_;
  }
  [[nodiscard]] const char* call() const override { return warm_up_ ? first_launches : making_.name; }
  [[nodiscard]] bool is_done() const override { return !warm_up_ || warm_up_->is_done(); }
  void give_up() noexcept override {
    const std::lock_guard no_launch(launch_mutex(*body_));
    abort(*body_);
  }

 private:
  [[nodiscard]] CommBody& asked() const { return making_.whole ? *making_.whole : *body_; }

  std::shared_ptr<CommBody> body_;
  Making making_;
  int rank_;
  int size_;
  Result result_ = Result::in_progress;
  std::optional<WarmUp> warm_up_{};
};

/// NCCL blocks: the communicator is made in a thread of its own, its first launches in the launcher's.
class ThreadedSetUp final : public SetUp {
 public:
  ThreadedSetUp(const std::shared_ptr<CommBody>& body, Making making, int rank, int size)
      : stage_(std::make_shared<Stage>(body, std::move(making), rank, size)),
        maker_(body->device),
        no_launch_(launch_mutex(*body), std::defer_lock) {
    making_ = maker_.begin([stage = stage_] { stage->make(); });
  }

  Result advance() override {
    if (!making_->is_done()) return Result::in_progress;
    making_->rethrow();
    if (stage_->made != Result::success || !stage_->warm_up) return stage_->made;
    if (!launching_) {
      if (device::Traffic::of(stage_->body->device).has_line() || !no_launch_.try_lock()) return Result::in_progress;
      launching_ = Launcher::of(stage_->body->device).begin([stage = stage_] {
        stage->launched = stage->warm_up->launch_all();
      });
    }
    if (!launching_->is_done()) return Result::in_progress;
    if (no_launch_.owns_lock()) {
      if (stage_->launched == Result::success) stage_->warm_up->note_launches();
      no_launch_.unlock();
    }
    launching_->rethrow();
    return stage_->launched;
  }
  [[nodiscard]] const char* call() const override { return launching_ ? first_launches : stage_->making.name; }
  [[nodiscard]] bool is_done() const override { return !stage_->warm_up || stage_->warm_up->is_done(); }

  /// NCCL cannot give up a communicator that it has not returned: the thread aborts it as soon as it has it. A launch
  /// that has begun ends by itself, or waits in NCCL for ranks that do not come, and only an abort ends it.
  void give_up() noexcept override {
    Step step = Step::begun;
    if (stage_->step.compare_exchange_strong(step, Step::given_up)) return;
    if (stage_->warm_up) stage_->warm_up->stop();
    const auto patience_ends = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (is_launching() && std::chrono::steady_clock::now() < patience_ends) sched_yield();
    CommBody& body = *stage_->body;
    if (body.handle != nullptr) (void)body.table.comm_abort(body.handle);
    while (is_launching()) sched_yield();
    body.handle = nullptr;  // not before, because the launch reads it
    if (no_launch_.owns_lock()) no_launch_.unlock();
  }

 private:
  enum class Step : std::uint8_t { begun, made, given_up };

  /// What the threads work on, for as long as they do.
  struct Stage {
    Stage(std::shared_ptr<CommBody> of, Making by, int rank, int size) : body(std::move(of)), making(std::move(by)) {
      if (size > 0) warm_up.emplace(*body, rank, size);
    }

    void make() {
      if (step.load() == Step::given_up) return;
      made = making.call(*body);
      Step begun = Step::begun;
      if (!step.compare_exchange_strong(begun, Step::made)) abort(*body);
    }

    std::shared_ptr<CommBody> body;
    Making making;
    std::optional<WarmUp> warm_up{};
    Result made = Result::in_progress;
    Result launched = Result::in_progress;
    std::atomic<Step> step{Step::begun};
  };

  [[nodiscard]] bool is_launching() const { return launching_ && !launching_->is_done(); }

  std::shared_ptr<Stage> stage_;
  Launcher maker_;
  std::unique_lock<device::LaunchMutex> no_launch_;  ///< while the launcher works
  std::shared_ptr<Launcher::Job> making_{};
  std::shared_ptr<Launcher::Job> launching_{};
};

}  // namespace

std::unique_ptr<SetUp> SetUp::begin(const std::shared_ptr<CommBody>& body, Making making, int rank, int size) {
  if (body->is_blocking) return std::make_unique<ThreadedSetUp>(body, std::move(making), rank, size);
  return std::make_unique<PolledSetUp>(body, std::move(making), rank, size);
}

}  // namespace tutti::detail::nccl
