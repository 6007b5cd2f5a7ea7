// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/ivalue.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace tutti::process_group {

class Lane;

/// What a call of c10d is made of.
struct C10dCall {
  c10d::OpType type = c10d::OpType::UNKNOWN;
  const char* title = nullptr;  ///< name in profiles
  std::vector<at::Tensor> inputs{};
  std::vector<at::Tensor> outputs{};
  std::chrono::milliseconds timeout{};
  bool async = true;
};

/// One call of a process group.
class Work : public c10d::Work {
 public:
  Work(int rank, C10dCall call, std::uint64_t number);

  std::vector<at::Tensor> result() override { return call_.outputs; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override;
  std::uint64_t getSequencenumber() const override { return number_; }
  std::chrono::milliseconds getTimeout() const override { return call_.timeout; }
  bool isSuccess() const override;

 protected:
  [[nodiscard]] C10dCall& call() { return call_; }
  /// Marks the work done, the future first.
  void complete(std::exception_ptr error);
  /// Sleeps until the work is done; throws after a timeout other than 0, and the error of work that failed.
  bool sleep_until_done(std::chrono::milliseconds timeout);
  void rethrow();

 private:
  C10dCall call_;
  std::uint64_t number_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Turns an error of Tutti into the one that c10d throws for its backends; others stay.
[[nodiscard]] std::exception_ptr translate(std::exception_ptr error);

/// Keeps a failed call's closure, and so its tensors, until the process ends: ranks may still write them.
void keep_forever(std::function<void()> body);

/// A call that blocks its thread until it is done.
class LaneWork final : public Work {
 public:
  LaneWork(int rank, C10dCall call, std::uint64_t number, std::shared_ptr<Lane> lane, std::function<void()> body)
      : Work(rank, std::move(call), number), lane_(std::move(lane)), body_(std::move(body)) {}

  /// Runs the call. Called once, by the lane.
  void execute() noexcept;
  bool wait(std::chrono::milliseconds timeout) override;

 private:
  std::shared_ptr<Lane> lane_;
  std::function<void()> body_;
};

/// Runs the calls of one communicator in order: those that the program waits for on its own thread, others on a thread
/// of the lane, which starts with the first of them. A call that a future's callback makes runs at once, behind the
/// call of that future: so its place in the order is the same on all ranks, and a callback may wait for it.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  /// Runs all that is queued, then this call, on this thread.
  void run(LaneWork& work);
  /// Queues a call for the lane's thread.
  void queue(c10::intrusive_ptr<LaneWork> work);
  /// Runs queued calls on this thread until `work` is done, if no other thread runs any.
  void help(const LaneWork& work, const std::function<bool()>& done);
  /// Waits for the calls under way and ends the thread.
  void close();
  /// Whether the caller is a thread of a lane.
  [[nodiscard]] static bool on_thread_of_lane();

 private:
  [[nodiscard]] c10::intrusive_ptr<LaneWork> next();
  [[nodiscard]] bool in_callback() const;
  void perform(LaneWork& work) const;
  void drain();
  static void serve(const std::shared_ptr<Lane>& lane);

  std::recursive_mutex running_;  ///< recursive for calls of callbacks
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<c10::intrusive_ptr<LaneWork>> queued_;
  bool has_thread_ = false;
  bool closed_ = false;
};

}  // namespace tutti::process_group
