// SPDX-License-Identifier: BSD-3-Clause
#include "messages_call.hpp"

#include <tutti/point_to_point.hpp>
#include <tutti/request.hpp>

namespace tutti::commbench {
namespace {

class MessagesCall final : public MeasuredCall {
 public:
  MessagesCall(const Communicator& comm, std::vector<Transfer> transfers, Mode mode, MemorySpace memory, Stream stream)
      : comm_(comm), transfers_(std::move(transfers)), mode_(mode), memory_(kind_of(memory)) {
    options_.memory = memory_;
    options_.stream = stream;
    if (mode_ == Mode::persistent) request_ = group().init();
  }

  void run() override {
    if (mode_ != Mode::blocking) {
      start();
      wait();
    } else if (transfers_.size() != 1) {
      group().run();
    } else if (const Transfer& only = transfers_.front(); only.is_recv) {
      (void)tutti::recv(comm_, buffer(only), only.peer, only.tag, options_);
    } else {
      tutti::send(comm_, buffer(only), only.peer, only.tag, options_);
    }
  }
  void start() override {
    if (mode_ == Mode::persistent) {
      request_.start();
    } else if (transfers_.size() != 1) {
      request_ = group().start();
    } else {
      const Transfer& only = transfers_.front();
      request_ = only.is_recv ? tutti::irecv(comm_, buffer(only), only.peer, only.tag, options_)
                              : tutti::isend(comm_, buffer(only), only.peer, only.tag, options_);
    }
  }
  bool test() override { return request_.test(); }
  void wait() override { request_.wait(); }
  void order() override { request_.wait(options_.stream); }

 private:
  [[nodiscard]] Buffer buffer(const Transfer& one) const { return {one.data, one.bytes, DatatypeKind::uint8, memory_}; }
  [[nodiscard]] Group group() const {
    Group group(comm_, options_);
    for (const Transfer& one : transfers_)
      if (one.is_recv)
        group.recv(buffer(one), one.peer, one.tag);
      else
        group.send(buffer(one), one.peer, one.tag);
    return group;
  }

  const Communicator& comm_;
  std::vector<Transfer> transfers_;
  Mode mode_;
  MemoryKind memory_;
  Options options_{};
  Request request_{};
};

}  // namespace

std::vector<Transfer> transfers_of(const Arguments& arguments) {
  const std::size_t size = arguments.point.type.size();
  std::vector<Transfer> transfers;
  for (const MessageSlice& one : arguments.shape->messages) {
    std::byte* base = one.is_recv ? arguments.recv : arguments.send;
    transfers.push_back({one.is_recv, one.peer, one.tag, base + one.at * size, one.length * size});
  }
  return transfers;
}

std::unique_ptr<MeasuredCall> make_messages_call(const Communicator& comm, std::vector<Transfer> transfers, Mode mode,
                                                 MemorySpace memory, Stream stream) {
  return std::make_unique<MessagesCall>(comm, std::move(transfers), mode, memory, stream);
}

}  // namespace tutti::commbench
