// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "work.hpp"

namespace tutti::process_group {

class Messages;

/// A send or receive. Messages end in any order, unlike collective calls.
class Message final : public Work {
 public:
  Message(int rank, C10dCall call, std::shared_ptr<Messages> group)
      : Work(rank, std::move(call), 0), group_(std::move(group)) {}

  bool wait(std::chrono::milliseconds timeout) override;
  int sourceRank() const override { return source_; }

 private:
  friend class Messages;
  std::shared_ptr<Messages> group_;
  std::function<void()> store_;
  Request request_;
  std::atomic<int> source_ = -1;
};

/// Sends and receives of a group, on a communicator that one thread at a time uses: the thread that waits for a
/// message, or a thread of its own while nobody waits.
class Messages : public std::enable_shared_from_this<Messages> {
 public:
  explicit Messages(Communicator comm) : comm_(std::move(comm)) {}

  void start(const c10::intrusive_ptr<Message>& message, int peer, int tag, bool sends);
  /// Advances all messages once. Never blocks.
  void advance();
  /// Ends the thread; the messages under way stay so.
  void close();
  [[nodiscard]] Communicator& communicator() { return comm_; }
  [[nodiscard]] std::atomic<int>& waiting() { return waiting_; }

 private:
  static void serve(const std::shared_ptr<Messages>& messages);
  void post(Message& message, int peer, int tag, bool sends);

  Communicator comm_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<c10::intrusive_ptr<Message>> pending_;
  std::atomic<int> waiting_ = 0;
  bool has_thread_ = false;
  bool closed_ = false;
};

}  // namespace tutti::process_group
