// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/puts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "call/agreement.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using schedules::Slice;
using schedules::Transfer;

/// What a rank tells another of the piece that it expects from it.
struct PutTarget {
  std::uint64_t bytes = 0;  ///< 0: none
  std::uint64_t window = none;
  std::uint64_t offset = 0;
  static constexpr auto none = ~std::uint64_t{0};
};

/// What a rank says in the end.
struct Outcome {
  enum class Kind : std::int32_t { success, unable, mismatch };
  Kind kind = Kind::success;
  std::array<char, 240> text{};
};

Outcome outcome_of(Outcome::Kind kind, std::string_view text) {
  Outcome outcome{kind, {}};
  std::copy_n(text.data(), std::min(text.size(), outcome.text.size() - 1), outcome.text.data());
  return outcome;
}

/// One rank's part of the agreement.
class Side {
 public:
  Side(const Comm& comm, const Plan& plan, const Binding& binding, int size, std::string why)
      : comm_(comm),
        binding_(binding),
        unit_(plan.signature.type.size()),
        tells_(static_cast<std::size_t>(size)),
        why_(std::move(why)) {}

  /// Whatever is wrong, the other ranks learn what this one expects.
  void look_at(const schedules::Schedule& schedule) {
    if (why_.empty() && binding_.in_place && !schedule.alias_safe)
      why_ = "in place, the input is copied before it is sent";
    for (const schedules::Round& round : schedule.rounds)
      for (const Transfer& transfer : round.transfers)
        if (transfer.slice.count > 0) look_at(transfer);
    if (why_.empty() && !comm_.windows().empty()) why_ = ask_nccl();
  }
  [[nodiscard]] const std::vector<PutTarget>& tells() const noexcept { return tells_; }
  /// told: of each rank.
  [[nodiscard]] Outcome match(const std::vector<PutTarget>& told);
  [[nodiscard]] Puts take() { return std::move(puts_); }

 private:
  [[nodiscard]] std::size_t bytes_of(const Slice& slice) const { return slice.count * unit_; }
  void look_at(const Transfer& transfer);
  [[nodiscard]] std::string ask_nccl() const;

  const Comm& comm_;
  const Binding& binding_;
  std::size_t unit_;
  std::vector<PutTarget> tells_;
  Puts puts_{};
  std::string why_;
};

void Side::look_at(const Transfer& transfer) {
  const Slice& slice = transfer.slice;
  const void* buffer = slice.buffer == schedules::BufferName::input ? binding_.input : binding_.output;
  const auto spot = comm_.spot_of(static_cast<const std::byte*>(buffer) + slice.offset * unit_, bytes_of(slice));
  if (!spot && why_.empty())
    why_ =
        "a buffer lies in no window of symmetric memory; take it from allocate(), of equal size on all ranks, with "
        "TUTTI_NCCL_REGISTER=1";
  if (transfer.kind == Transfer::Kind::send) {
    puts_.puts.push_back({slice, transfer.peer, 0, 0});
    return;
  }
  puts_.sources.push_back(transfer.peer);
  tells_[static_cast<std::size_t>(transfer.peer)] =
      spot ? PutTarget{bytes_of(slice), spot->window, spot->offset} : PutTarget{.bytes = bytes_of(slice)};
}

std::string Side::ask_nccl() const {
  try {
    const device::Turn turn(device::Traffic::of(comm_.device()), device::give_way);
    return comm_.why_no_puts();
  } catch (const Error& error) {
    return error.what();
  }
}

Outcome Side::match(const std::vector<PutTarget>& told) {
  std::vector<std::uint64_t> sent(told.size(), 0);
  for (Put& put : puts_.puts) {
    const auto peer = static_cast<std::size_t>(put.peer);
    sent[peer] = bytes_of(put.from);
    if (told[peer].window == PutTarget::none) continue;  // as that rank says
    put.range = comm_.range_of_window(told[peer].window);
    put.offset = told[peer].offset;
    if (why_.empty() && comm_.window_of_range(put.range) == nullptr)
      why_ = fmt::format("a rank has freed its part of a window that rank {} receives in", peer);
  }
  for (std::size_t peer = 0; peer < told.size(); ++peer)
    if (sent[peer] != told[peer].bytes)
      return outcome_of(Outcome::Kind::mismatch,
                        fmt::format("sends {} bytes to rank {}, which expects {}", sent[peer], peer, told[peer].bytes));
  return why_.empty() ? Outcome{} : outcome_of(Outcome::Kind::unable, why_);
}

std::vector<PutTarget> exchange(const Context& context, const std::vector<PutTarget>& tells) {
  std::vector<PutTarget> told(tells.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ialltoall(tells.data(), sizeof(PutTarget), MPI_BYTE, told.data(), sizeof(PutTarget), MPI_BYTE,
                          context.point_to_point, &request),
            "MPI_Ialltoall");
  wait_yielding(request, "MPI_Ialltoall");
  return told;
}

}  // namespace

std::shared_ptr<const Puts> agree_on_puts(const Context& context, const Comm& comm, const Plan& plan,
                                          const schedules::Schedule& schedule, const Binding& binding,
                                          std::string& why) {
  Side side(comm, plan, binding, context.size, why);
  side.look_at(schedule);
  const auto outcomes = all_gather(context, side.match(exchange(context, side.tells())));
  const auto first = [&](Outcome::Kind kind) { return std::ranges::find(outcomes, kind, &Outcome::kind); };
  const auto text = [&](auto found) {
    return fmt::format("rank {}: {}", found - outcomes.begin(), found->text.data());
  };
  if (const auto found = first(Outcome::Kind::mismatch); found != outcomes.end())
    throw Error(ErrorCode::mismatch, text(found));
  if (const auto found = first(Outcome::Kind::unable); found != outcomes.end()) {
    why = text(found);
    return nullptr;
  }
  return std::make_shared<const Puts>(side.take());
}

}  // namespace tutti::detail::nccl
