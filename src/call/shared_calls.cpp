// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "call/agreement.hpp"
#include "call/call_exchange.hpp"
#include "call/context.hpp"
#include "call/segment.hpp"
#include "core/arithmetic.hpp"
#include "core/config.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;

/// The first words of a rank's part. Only the failure of rank 0's part is used, by all.
struct RankHeader {
  std::atomic<std::uint64_t> forgotten;  ///< number of calls that the rank has forgotten
  std::atomic<std::uint32_t> failed;     ///< the first rank that failed, counted from 1; 0: none
  std::atomic<std::uint32_t> is_told;    ///< of this rank: code and reason are written
  std::int32_t code;
  char reason[1024];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A ring of records per rank, in a segment that all ranks map. A record is there when its mark is the number of its
/// call, counted from 1.
class SharedCalls final : public CallExchange {
 public:
  /// A rank may be so many calls ahead of the slowest one; it keeps further ones until there is room.
  static constexpr std::uint64_t depth = 64;

  SharedCalls(shm::Segment&& segment, int rank, int size) : segment_(std::move(segment)), rank_(rank), size_(size) {}

  [[nodiscard]] static std::size_t slot_bytes(int size) {
    return round_up(sizeof(CallRecord) + 2 * listed(size) * sizeof(std::uint64_t), line);
  }
  [[nodiscard]] static std::size_t part_bytes(int size) {
    return round_up(round_up(sizeof(RankHeader), line) + depth * slot_bytes(size), page);
  }

  [[nodiscard]] bool publish(std::uint64_t number, const CallRecord& record, const BlockSizes& sizes) override {
    if (number >= room_until_ && !find_room(number)) return false;
    std::byte* place = slot(rank_, number);
    auto& to = *reinterpret_cast<CallRecord*>(place);
    to.facts = record.facts;
    if (record.facts.algorithm != 0) to.algorithm = record.algorithm;
    to.site = record.site;
    auto* list = reinterpret_cast<std::uint64_t*>(place + sizeof(CallRecord));
    std::copy(sizes.given.begin(), sizes.given.end(), list);
    std::copy(sizes.taken.begin(), sizes.taken.end(), list + sizes.given.size());
    std::atomic_ref(to.mark).store(number + 1, std::memory_order_release);
    return true;
  }

  [[nodiscard]] const CallRecord* find(std::uint64_t number, int rank) override {
    auto& record = *reinterpret_cast<CallRecord*>(slot(rank, number));
    return std::atomic_ref(record.mark).load(std::memory_order_acquire) == number + 1 ? &record : nullptr;
  }

  [[nodiscard]] BlockSizes sizes_of(std::uint64_t number, int rank) override {
    const std::size_t count = listed(size_);
    const auto* list = reinterpret_cast<const std::uint64_t*>(slot(rank, number) + sizeof(CallRecord));
    return {{list, count}, {list + count, count}};
  }

  void forget(std::uint64_t number) override { header(rank_).forgotten.store(number + 1, std::memory_order_release); }

  [[nodiscard]] const CallRecord* last_before(std::uint64_t number, int rank) override {
    for (std::uint64_t ago = 1; ago < depth && ago <= number; ++ago)
      if (const CallRecord* record = find(number - ago, rank)) return record;
    return nullptr;
  }

  void fail(int code, const std::string& reason) noexcept override {
    std::uint32_t none = 0;
    if (!header(0).failed.compare_exchange_strong(none, static_cast<std::uint32_t>(rank_) + 1)) return;
    RankHeader& mine = header(rank_);
    mine.code = code;
    const std::size_t length = std::min(reason.size(), sizeof mine.reason - 1);
    std::memcpy(mine.reason, reason.data(), length);
    mine.reason[length] = '\0';
    mine.is_told.store(1, std::memory_order_release);
  }
  [[nodiscard]] bool tells_end() const noexcept override { return true; }
  [[nodiscard]] bool has_failure() const noexcept override {
    return header(0).failed.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] RankFailure failure() const override {
    const std::uint32_t failed = header(0).failed.load(std::memory_order_acquire);
    if (failed == 0) return {};
    const RankHeader& theirs = header(static_cast<int>(failed) - 1);
    if (theirs.is_told.load(std::memory_order_acquire) == 0) return {};
    return {static_cast<int>(failed) - 1, theirs.code, theirs.reason};
  }

 private:
  /// The number of ranks in a list of sizes.
  [[nodiscard]] static std::size_t listed(int size) {
    return size <= most_compared_ranks ? static_cast<std::size_t>(size) : 0;
  }
  [[nodiscard]] std::byte* begin_of(int rank) const {
    return segment_.data() + static_cast<std::size_t>(rank) * part_bytes(size_);
  }
  [[nodiscard]] RankHeader& header(int rank) const { return *reinterpret_cast<RankHeader*>(begin_of(rank)); }
  [[nodiscard]] std::byte* slot(int rank, std::uint64_t number) const {
    return begin_of(rank) + round_up(sizeof(RankHeader), line) + number % depth * slot_bytes_;
  }
  [[nodiscard]] bool find_room(std::uint64_t number) {
    std::uint64_t least = ~std::uint64_t{0};
    for (int r = 0; r < size_; ++r) least = std::min(least, header(r).forgotten.load(std::memory_order_acquire));
    room_until_ = least + depth;
    return number < room_until_;
  }

  shm::Segment segment_;
  int rank_;
  int size_;
  std::size_t slot_bytes_ = slot_bytes(size_);
  std::uint64_t room_until_ = depth;  ///< calls with lower numbers have room
};

}  // namespace

std::unique_ptr<CallExchange> share_calls(const Context& context, std::string& problem) {
  using Name = std::array<char, 64>;
  const std::size_t part = SharedCalls::part_bytes(context.size);
  const std::size_t bytes = part * static_cast<std::size_t>(context.size);
  shm::SegmentName made;
  shm::Segment segment;
  if (context.rank == 0) segment = shm::Segment::create(bytes, made, problem);
  Name mine{};
  std::copy_n(made.text.data(), std::min(made.text.size(), mine.size() - 1), mine.data());
  const std::string name = all_gather(context, mine)[0].data();
  if (context.rank != 0 && !name.empty()) segment = shm::Segment::open(name, bytes, problem);
  const bool has_part =
      segment.valid() && segment.reserve(name, static_cast<std::size_t>(context.rank) * part, part, problem);
  const std::vector<char> all = all_gather(context, static_cast<char>(has_part));
  if (std::find(all.begin(), all.end(), 0) == all.end())
    return std::make_unique<SharedCalls>(std::move(segment), context.rank, context.size);
  if (problem.empty()) problem = "another rank could not map the memory of check mode";
  return nullptr;
}

}  // namespace tutti::detail
