// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "call.hpp"

namespace tutti::commbench {
namespace {

class ConcurrentCall final : public MeasuredCall {
 public:
  explicit ConcurrentCall(std::vector<std::unique_ptr<MeasuredCall>> calls) : calls_(std::move(calls)) {}

  void run() override {
    start();
    wait();
  }
  void start() override {
    for (const auto& call : calls_) call->start();
  }
  bool test() override {
    bool are_done = true;
    for (const auto& call : calls_) are_done = call->test() && are_done;
    return are_done;
  }
  void wait() override {
    for (const auto& call : calls_) call->wait();
  }
  void order() override {
    for (const auto& call : calls_) call->order();
  }

 private:
  std::vector<std::unique_ptr<MeasuredCall>> calls_;
};

}  // namespace

std::unique_ptr<MeasuredCall> make_concurrent(std::vector<std::unique_ptr<MeasuredCall>> calls) {
  if (calls.size() == 1) return std::move(calls.front());
  return std::make_unique<ConcurrentCall>(std::move(calls));
}

}  // namespace tutti::commbench
