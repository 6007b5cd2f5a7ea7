// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "call/call_exchange.hpp"
#include "call/context.hpp"
#include "check/record_channel.hpp"
#include "core/config.hpp"

namespace tutti::detail {
namespace {

/// A call on its way, which sizes of blocks may follow.
struct SentCall : check::RecordHead {
  CallRecord record{};
};

/// A record from each rank to each other: an allgather of the host MPI would not say which rank has not come.
class SentCalls final : public CallExchange {
 public:
  SentCalls(check::RecordChannel& channel, int rank, int size) : channel_(channel), rank_(rank), size_(size) {}

  [[nodiscard]] bool publish(std::uint64_t number, const CallRecord& record, const BlockSizes& sizes) override {
    const SentCall begin{{.number = number + 1, .sender = rank_}, record};
    check::Record sent(sizeof begin + 2 * sizes.given.size_bytes());
    std::memcpy(sent.data(), &begin, sizeof begin);
    if (!sizes.given.empty()) {
      std::memcpy(sent.data() + sizeof begin, sizes.given.data(), sizes.given.size_bytes());
      std::memcpy(sent.data() + sizeof begin + sizes.given.size_bytes(), sizes.taken.data(), sizes.taken.size_bytes());
    }
    for (int r = 0; r < size_; ++r)
      if (r != rank_) channel_.send(Bytes(sent), r);
    return true;
  }

  [[nodiscard]] const CallRecord* find(std::uint64_t number, int rank) override {
    auto found = come_.find({number, rank});
    if (found == come_.end()) {
      auto record = channel_.take_call(0, number + 1, rank);
      if (!record) return nullptr;
      found = come_.emplace(std::pair{number, rank}, std::move(*record)).first;
    }
    return &reinterpret_cast<const SentCall*>(found->second.data())->record;
  }

  [[nodiscard]] BlockSizes sizes_of(std::uint64_t number, int rank) override {
    const check::Record& record = come_.at({number, rank});
    const auto* list = reinterpret_cast<const std::uint64_t*>(record.data() + sizeof(SentCall));
    const std::size_t count = (record.size() - sizeof(SentCall)) / sizeof *list / 2;
    return {{list, count}, {list + count, count}};
  }

  void forget(std::uint64_t number) override {
    come_.erase(come_.lower_bound({number, 0}), come_.lower_bound({number + 1, 0}));
  }

 private:
  check::RecordChannel& channel_;
  int rank_;
  int size_;
  std::map<std::pair<std::uint64_t, int>, check::Record> come_{};  ///< by number and rank
};

}  // namespace

std::unique_ptr<CallExchange> make_call_exchange(const Context& context, check::RecordChannel& channel) {
  if (context.size == 1) return nullptr;
  std::string problem;
  if (context.topology.nodes == 1 && config().shared_memory)
    if (auto shared = share_calls(context, problem)) return shared;
  return std::make_unique<SentCalls>(channel, context.rank, context.size);
}

}  // namespace tutti::detail
