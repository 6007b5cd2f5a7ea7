// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "call/call_exchange.hpp"
#include "call/context.hpp"
#include "check/mailbox.hpp"
#include "core/config.hpp"

namespace tutti::detail {
namespace {

/// The record of a call, which sizes of blocks may follow.
struct CallLetter : check::Head {
  CallRecord record{};
};

/// A letter from each rank to each other: an allgather of the host MPI would not say which rank has not come.
class SentCalls final : public CallExchange {
 public:
  SentCalls(check::Mailbox& mailbox, int rank, int size) : mailbox_(mailbox), rank_(rank), size_(size) {}

  [[nodiscard]] bool publish(std::uint64_t number, const CallRecord& record, const BlockSizes& sizes) override {
    const CallLetter begin{{.number = number + 1, .sender = rank_}, record};
    check::Letter letter(sizeof begin + 2 * sizes.given.size_bytes());
    std::memcpy(letter.data(), &begin, sizeof begin);
    if (!sizes.given.empty()) {
      std::memcpy(letter.data() + sizeof begin, sizes.given.data(), sizes.given.size_bytes());
      std::memcpy(letter.data() + sizeof begin + sizes.given.size_bytes(), sizes.taken.data(),
                  sizes.taken.size_bytes());
    }
    for (int r = 0; r < size_; ++r)
      if (r != rank_) mailbox_.send(Bytes(letter), r);
    return true;
  }

  [[nodiscard]] const CallRecord* find(std::uint64_t number, int rank) override {
    auto found = come_.find({number, rank});
    if (found == come_.end()) {
      auto letter = mailbox_.take_call(0, number + 1, rank);
      if (!letter) return nullptr;
      found = come_.emplace(std::pair{number, rank}, std::move(*letter)).first;
    }
    return &reinterpret_cast<const CallLetter*>(found->second.data())->record;
  }

  [[nodiscard]] BlockSizes sizes_of(std::uint64_t number, int rank) override {
    const check::Letter& letter = come_.at({number, rank});
    const auto* list = reinterpret_cast<const std::uint64_t*>(letter.data() + sizeof(CallLetter));
    const std::size_t count = (letter.size() - sizeof(CallLetter)) / sizeof *list / 2;
    return {{list, count}, {list + count, count}};
  }

  void forget(std::uint64_t number) override {
    come_.erase(come_.lower_bound({number, 0}), come_.lower_bound({number + 1, 0}));
  }

 private:
  check::Mailbox& mailbox_;
  int rank_;
  int size_;
  std::map<std::pair<std::uint64_t, int>, check::Letter> come_{};  ///< by number and rank
};

}  // namespace

std::unique_ptr<CallExchange> make_call_exchange(const Context& context, check::Mailbox& mailbox) {
  if (context.size == 1) return nullptr;
  std::string problem;
  if (context.topology.nodes == 1 && config().shared_memory)
    if (auto shared = share_calls(context, problem)) return shared;
  return std::make_unique<SentCalls>(mailbox, context.rank, context.size);
}

}  // namespace tutti::detail
