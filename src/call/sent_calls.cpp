// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "call/call_exchange.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/late_communicator.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

/// The messages of one call: the record of this rank to each other rank, and theirs.
struct CallMessages {
  std::vector<std::uint64_t> memory;  ///< this rank's record first, then one of each rank
  std::vector<MPI_Request> sends;
  std::vector<MPI_Request> receives;  ///< by rank
};

/// A message from each rank to each other, on a communicator of their own: an allgather of the host MPI would not say
/// which rank has not come.
class SentCalls final : public CallExchange {
 public:
  explicit SentCalls(const Context& context) : rank_(context.rank), size_(context.size) {
    comm_.begin(context.point_to_point);
    comm_.wait();
  }
  ~SentCalls() override { (void)close(); }
  SentCalls(const SentCalls&) = delete;
  SentCalls& operator=(const SentCalls&) = delete;

  [[nodiscard]] bool publish(std::uint64_t number, const CallRecord& record, const BlockSizes& sizes) override {
    const int tag = static_cast<int>(number % tags);
    CallMessages& messages = calls_[number];
    const auto ranks = static_cast<std::size_t>(size_);
    messages.memory.resize(words_ * (ranks + 1));
    std::uint64_t* mine = messages.memory.data();
    std::memcpy(mine, &record, sizeof record);
    std::copy(sizes.given.begin(), sizes.given.end(), mine + record_words);
    std::copy(sizes.taken.begin(), sizes.taken.end(), mine + record_words + sizes.given.size());
    messages.receives.assign(ranks, MPI_REQUEST_NULL);
    messages.sends.assign(ranks, MPI_REQUEST_NULL);
    const int bytes = static_cast<int>(words_ * sizeof(std::uint64_t));
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      const auto i = static_cast<std::size_t>(r);
      check_mpi(MPI_Irecv(mine + words_ * (i + 1), bytes, MPI_BYTE, r, tag, comm_.get(), &messages.receives[i]),
                "MPI_Irecv");
      check_mpi(MPI_Isend(mine, bytes, MPI_BYTE, r, tag, comm_.get(), &messages.sends[i]), "MPI_Isend");
    }
    return true;
  }

  [[nodiscard]] const CallRecord* find(std::uint64_t number, int rank) override {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return nullptr;
    MPI_Request& request = found->second.receives[static_cast<std::size_t>(rank)];
    int done = 1;
    if (request != MPI_REQUEST_NULL) check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0 ? reinterpret_cast<const CallRecord*>(place_of(found->second, rank)) : nullptr;
  }

  [[nodiscard]] BlockSizes sizes_of(std::uint64_t number, int rank) override {
    const std::uint64_t* list = place_of(calls_.at(number), rank) + record_words;
    return {{list, listed()}, {list + listed(), listed()}};
  }

  void forget(std::uint64_t number) override {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    sent_.push_back(std::move(found->second));
    calls_.erase(found);
    std::erase_if(sent_, [](CallMessages& messages) { return are_sent(messages); });
  }

  [[nodiscard]] bool close() noexcept override {
    if (is_closed_ || !mpi_is_usable()) return true;
    is_closed_ = true;
    std::erase_if(sent_, [](CallMessages& messages) { return are_sent(messages); });
    if (!calls_.empty() || !sent_.empty()) {
      defer_free(std::move(calls_));
      defer_free(std::move(sent_));
      return false;  // the communicator is kept for ever, because its messages must not reach another one
    }
    comm_.free();
    return true;
  }

 private:
  static constexpr std::uint64_t tags = 16384;
  static constexpr std::size_t record_words = sizeof(CallRecord) / sizeof(std::uint64_t);

  [[nodiscard]] std::size_t listed() const {
    return size_ <= most_compared_ranks ? static_cast<std::size_t>(size_) : 0;
  }
  [[nodiscard]] const std::uint64_t* place_of(const CallMessages& messages, int rank) const {
    return messages.memory.data() + words_ * (static_cast<std::size_t>(rank) + 1);
  }
  static bool are_sent(CallMessages& messages) {
    int done = 0;
    return MPI_Testall(static_cast<int>(messages.sends.size()), messages.sends.data(), &done, MPI_STATUSES_IGNORE) ==
               MPI_SUCCESS &&
           done != 0;
  }

  LateCommunicator comm_{"the calls of check mode"};
  int rank_;
  int size_;
  std::size_t words_ = record_words + 2 * listed();
  std::map<std::uint64_t, CallMessages> calls_;
  std::vector<CallMessages> sent_;
  bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<CallExchange> send_calls(const Context& context) { return std::make_unique<SentCalls>(context); }

std::unique_ptr<CallExchange> make_call_exchange(const Context& context) {
  if (context.size == 1) return nullptr;
  std::string problem;
  if (context.topology.nodes == 1 && config().shared_memory)
    if (auto shared = share_calls(context, problem)) return shared;
  return send_calls(context);
}

}  // namespace tutti::detail
