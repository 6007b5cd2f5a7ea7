// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tutti/collectives/barrier.hpp>
#include <tutti/error.hpp>

#include "call/round_moments.hpp"
#include "core/mpi_call.hpp"
#include "core/process_watch.hpp"
#include "core/stopwatch.hpp"
#include "diagnosis/clock.hpp"
#include "diagnosis/trace/world.hpp"
#include "tools/program.hpp"
#include "tools/rounds.hpp"
#include "tools/scope_options.hpp"
#include "tools/trial.hpp"

namespace tutti::tools {
namespace {

using detail::check_mpi;
using detail::flight::Clock;
using detail::flight::Moment;

constexpr int warm_ups = 3;

/// The clock of a rank beside that of rank 0: plain data, of which each rank sends one.
struct ClockFacts {
  std::uint64_t machine = 0;
  Moment first{};
  Moment last{};
  std::uint64_t own = 0;  ///< ticks at a moment that is `other` in those of rank 0
  std::uint64_t other = 0;
  std::uint64_t round_trip = 0;
};

/// Turns ticks of a rank into nanoseconds of rank 0's clock, which the ranks of its machine have in common.
class Aligned {
 public:
  Aligned(const ClockFacts& facts, const ClockFacts& of_root)
      : is_same_(facts.machine == of_root.machine && facts.machine != 0),
        root_(of_root.first, of_root.last),
        own_(facts.first, facts.last),
        facts_(facts) {}

  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t ticks) const {
    if (is_same_) return root_.time(ticks);
    return root_.time(facts_.other) + own_.time(ticks) - own_.time(facts_.own);
  }
  /// 0: they share the clock.
  [[nodiscard]] double doubt() const {
    return is_same_ ? 0 : static_cast<double>(own_.time(facts_.own + facts_.round_trip) - own_.time(facts_.own)) / 2;
  }

 private:
  bool is_same_;
  Clock root_;
  Clock own_;
  ClockFacts facts_;
};

/// The values of all ranks on rank 0, one rank after the other; empty elsewhere.
template <typename Value>
std::vector<std::vector<Value>> gathered(const std::vector<Value>& own) {
  // The displacements of MPI_Gatherv are ints.
  if (own.size() * sizeof(Value) > std::numeric_limits<int>::max() / static_cast<std::size_t>(world_size()))
    throw Error(ErrorCode::invalid_argument,
                "explain: the times of so many calls, rounds and ranks do not fit one "
                "message to rank 0: pass fewer --repeats");
  const int bytes = static_cast<int>(own.size() * sizeof(Value));
  std::vector<int> lengths(static_cast<std::size_t>(world_size()));
  check_mpi(MPI_Gather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> places(lengths.size(), 0);
  std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
  std::vector<Value> all(is_root() ? static_cast<std::size_t>(places.back() + lengths.back()) / sizeof(Value) : 0);
  check_mpi(
      MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, 0, MPI_COMM_WORLD),
      "MPI_Gatherv");
  std::vector<std::vector<Value>> by_rank;
  if (!is_root()) return by_rank;
  auto next = all.begin();
  for (const int length : lengths) {
    const auto end = next + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(length) / sizeof(Value));
    by_rank.emplace_back(next, end);
    next = end;
  }
  return by_rank;
}

/// One rank of another machine after the other, so that the messages of none wait for those of others.
void find_offset(ClockFacts& own, int rank) {
  std::vector<std::uint64_t> machines(static_cast<std::size_t>(world_size()));
  check_mpi(MPI_Allgather(&own.machine, 1, MPI_UINT64_T, machines.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD),
            "MPI_Allgather");
  for (int other = 1; other < world_size(); ++other) {
    if (machines[static_cast<std::size_t>(other)] == machines[0] && machines[0] != 0) continue;
    if (rank != 0 && rank != other) continue;
    const detail::trace::OffsetRecord offset = detail::trace::measure_offset(MPI_COMM_WORLD, other);
    if (rank != other) continue;
    own.own = offset.own;
    own.other = offset.other;
    own.round_trip = offset.round_trip;
  }
}

/// Makes one call, and adds its moments on this rank: its begin, those of its rounds, and its end.
void add_call(const Communicator& comm, detail::tuning::Trial& trial, detail::RoundMoments& rounds,
              std::vector<std::uint64_t>& moments) {
  barrier(comm);
  rounds.clear();
  moments.push_back(detail::flight::ticks());
  trial.run();
  const std::uint64_t end = detail::flight::ticks();
  moments.insert(moments.end(), rounds.get().begin(), rounds.get().end());
  moments.push_back(end);
}

/// Of each of the moments of a call the median over all calls.
std::vector<double> medians(const std::vector<double>& moments, std::size_t calls) {
  const std::size_t length = moments.size() / calls;
  std::vector<double> found;
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> of_one;
    for (std::size_t call = 0; call < calls; ++call) of_one.push_back(moments[call * length + i]);
    found.push_back(detail::median(std::move(of_one)));
  }
  return found;
}

RankTimes times_of(const std::vector<double>& moments) {
  RankTimes times{.begin = moments.front(), .first = moments.front(), .ends = {}, .end = moments.back()};
  if (moments.size() == 2) return times;
  times.first = moments[1];
  times.ends.assign(moments.begin() + 2, moments.end() - 1);
  return times;
}

std::string words_on(const std::vector<Aligned>& clocks) {
  double doubt = 0;
  for (const Aligned& one : clocks) doubt = std::max(doubt, one.doubt());
  return doubt == 0 ? "one machine, one clock"
                    : fmt::format("clocks of other machines moved, measured to {:.2f} us", 1e-3 * doubt);
}

/// On rank 0: the moments of all ranks in seconds since the first rank began each call.
MeasuredCall merged(const std::vector<std::vector<std::uint64_t>>& ticks, const std::vector<Aligned>& clocks,
                    int repeats) {
  const auto calls = static_cast<std::size_t>(repeats);
  const std::size_t ranks = ticks.size();
  const auto time = [&](std::size_t rank, std::size_t i) { return clocks[rank].nanoseconds(ticks[rank][i]); };
  std::vector<double> lengths;
  std::vector<std::vector<double>> seconds(ranks);
  for (std::size_t call = 0; call < calls; ++call) {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      begin = std::min(begin, time(rank, call * ticks[rank].size() / calls));
    double last = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t length = ticks[rank].size() / calls;
      for (std::size_t i = call * length; i < (call + 1) * length; ++i)
        seconds[rank].push_back(1e-9 * static_cast<double>(time(rank, i) - begin));
      last = std::max(last, seconds[rank].back());
    }
    lengths.push_back(last);
  }
  MeasuredCall found{.repeats = repeats, .seconds = detail::median(lengths), .clocks = words_on(clocks), .ranks = {}};
  for (const auto& of_rank : seconds) found.ranks.push_back(times_of(medians(of_rank, calls)));
  return found;
}

detail::tuning::Target target_of(const detail::Signature& signature, std::size_t block) {
  if (signature.op == ReduceKind::user)
    throw UsageError("explain: --measure has no function of a user to combine by; pass another --op");
  detail::tuning::Target target{
      .operation = signature.operation,
      .kind = signature.kind,
      .type = signature.type,
      .bytes = has_hidden_size(signature.operation) ? block : signature.count * signature.type.size(),
      .op = {},
      .root = signature.root};
  if (combines(signature.operation)) target.op = signature.op;
  return target;
}

}  // namespace

MeasuredCall measured_rounds(const detail::Signature& signature, std::size_t block, const std::string& way,
                             int repeats) {
  const detail::tuning::Target target = target_of(signature, block);
  const Communicator comm = several_ranks("measure");
  detail::tuning::TrialMemory memory(target, comm.size());
  Options options;
  options.algorithm = way;
  options.reproducible = signature.reproducible;
  options.accumulation = signature.accumulation;
  detail::RoundMoments rounds(*comm.state());
  detail::tuning::Trial trial(comm, target, memory, options);
  for (int i = 0; i < warm_ups; ++i) trial.run();
  ClockFacts facts{.machine = detail::own_identity(0).machine, .first = Moment::now()};
  std::vector<std::uint64_t> moments;
  for (int i = 0; i < repeats; ++i) add_call(comm, trial, rounds, moments);
  find_offset(facts, comm.rank());
  facts.last = Moment::now();
  const auto ticks = gathered(moments);
  const auto all_facts = gathered(std::vector<ClockFacts>{facts});
  if (!is_root()) return {};
  std::vector<Aligned> clocks;
  for (const auto& of_rank : all_facts) clocks.emplace_back(of_rank.front(), all_facts.front().front());
  return merged(ticks, clocks, repeats);
}

}  // namespace tutti::tools
