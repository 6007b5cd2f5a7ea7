// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/trace_summary.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

/// The entries of a map, the one with the most seconds first.
template <typename Map, typename Seconds>
auto by_time(const Map& map, const Seconds& seconds) {
  std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> rows(map.begin(), map.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return seconds(a.second) > seconds(b.second); });
  return rows;
}

double all_of(const TraceSummary& summary) {
  double sum = 0;
  for (const auto& [number, rank] : summary.ranks()) sum += rank.whole();
  return sum;
}

double share_of(const TraceSummary& summary, double seconds) {
  const double all = all_of(summary);
  return all > 0 ? seconds / all : 0;
}

auto operations_of(const TraceSummary& summary) {
  return by_time(summary.operations(), [](const TraceSummary::Operation& one) { return one.seconds; });
}

auto waits_of(const TraceSummary& summary) {
  return by_time(summary.waits(), [](const TraceSummary::Wait& one) { return one.seconds; });
}

std::string problems_text(const TraceSummary& summary) {
  std::string text;
  for (const auto& [number, rank] : summary.ranks()) {
    if (!rank.ended) text += fmt::format("Rank {} ended without MPI_Finalize.\n", number);
    if (rank.lost != 0)
      text += fmt::format("Rank {} had no room for {} records, which are missing below.\n", number, rank.lost);
  }
  return text.empty() ? text : text + '\n';
}

std::string operations_text(const TraceSummary& summary) {
  Rows rows{{"call", "bytes up to", "path", "calls", "bytes", "ms", "share", "longest ms"}};
  for (const auto& [key, one] : operations_of(summary))
    rows.push_back({std::get<0>(key), std::to_string(std::get<1>(key)), std::get<2>(key), std::to_string(one.calls),
                    std::to_string(one.bytes), milliseconds(one.seconds),
                    fmt::format("{:.1f}%", 100 * share_of(summary, one.seconds)), milliseconds(one.longest)});
  return "Calls of all ranks; ms in calls and in waits for them\n" + detail::in_columns(rows);
}

std::string ranks_text(const TraceSummary& summary) {
  Rows rows{{"rank", "ms", "in calls", "outside", "waited for others", "others waited for it"}};
  for (const auto& [number, rank] : summary.ranks())
    rows.push_back({std::to_string(number), milliseconds(rank.whole()), milliseconds(rank.in_calls),
                    milliseconds(rank.outside()), milliseconds(summary.waited(number)),
                    milliseconds(summary.caused(number))});
  return fmt::format("\nRanks; the most time outside of calls is {:.2f} times the mean\n{}", summary.imbalance(),
                     detail::in_columns(rows));
}

std::string waits_text(const TraceSummary& summary) {
  if (summary.waits().empty()) return "\nNo rank waited for another one.\n";
  Rows rows{{"rank", "waited for", "reason", "calls", "ms"}};
  for (const auto& [key, wait] : waits_of(summary))
    rows.push_back({std::to_string(std::get<0>(key)), fmt::format("rank {}", std::get<1>(key)),
                    std::string(reason_name(std::get<2>(key))), std::to_string(wait.calls),
                    milliseconds(wait.seconds)});
  return "\nWaits\n" + detail::in_columns(rows);
}

std::string call_text(const TraceSlice& slice) {
  std::string text = slice.name;
  if (slice.sequence != 0) text += fmt::format(" #{}", slice.sequence);
  return slice.communicator.empty() ? text : fmt::format("{} of communicator '{}'", text, slice.communicator);
}

std::string worst_text(const TraceSummary& summary) {
  if (summary.worst().empty()) return {};
  std::string text = "\nLongest waits\n";
  for (const TraceSlice& one : summary.worst())
    text += fmt::format("rank {} in {} at {:.6f} s: {} ms for rank {}\n", one.rank, call_text(one), one.begin,
                        milliseconds(one.waited), one.waited_for);
  return text;
}

struct Spread {
  double sum = 0;
  double most = 0;
  int slowest = -1;
};

Spread spread_of(const TraceSummary::RangeTime& range) {
  Spread spread;
  for (const auto& [rank, seconds] : range.seconds) {
    spread.sum += seconds;
    if (seconds > spread.most) spread = {spread.sum, seconds, rank};
  }
  return spread;
}

std::string ranges_text(const TraceSummary& summary) {
  if (summary.ranges().empty()) return {};
  Rows rows{{"range", "times", "mean ms a rank", "most ms", "of rank"}};
  for (const auto& [name, range] :
       by_time(summary.ranges(), [](const TraceSummary::RangeTime& one) { return spread_of(one).sum; })) {
    const Spread spread = spread_of(range);
    rows.push_back({name, std::to_string(range.calls),
                    milliseconds(spread.sum / static_cast<double>(range.seconds.size())), milliseconds(spread.most),
                    std::to_string(spread.slowest)});
  }
  return "\nRanges\n" + detail::in_columns(rows);
}

}  // namespace

std::string TraceSummary::text() const {
  return problems_text(*this) + operations_text(*this) + ranks_text(*this) + waits_text(*this) + worst_text(*this) +
         ranges_text(*this);
}

std::string TraceSummary::json() const {
  using nlohmann::json;
  json all = {{"imbalance", imbalance()}, {"operations", json::array()},    {"ranks", json::array()},
              {"waits", json::array()},   {"longest_waits", json::array()}, {"ranges", json::array()}};
  for (const auto& [key, one] : operations_of(*this))
    all["operations"].push_back({{"call", std::get<0>(key)},
                                 {"bytes_up_to", std::get<1>(key)},
                                 {"path", std::get<2>(key)},
                                 {"calls", one.calls},
                                 {"bytes", one.bytes},
                                 {"seconds", one.seconds},
                                 {"share", share_of(*this, one.seconds)},
                                 {"longest_seconds", one.longest}});
  for (const auto& [number, rank] : ranks_)
    all["ranks"].push_back({{"rank", number},
                            {"ended", rank.ended},
                            {"lost", rank.lost},
                            {"seconds", rank.whole()},
                            {"seconds_in_calls", rank.in_calls},
                            {"seconds_outside", rank.outside()},
                            {"seconds_waited", waited(number)},
                            {"seconds_caused", caused(number)}});
  for (const auto& [key, wait] : waits_of(*this))
    all["waits"].push_back({{"rank", std::get<0>(key)},
                            {"for", std::get<1>(key)},
                            {"reason", reason_name(std::get<2>(key))},
                            {"calls", wait.calls},
                            {"seconds", wait.seconds}});
  for (const TraceSlice& one : worst_)
    all["longest_waits"].push_back({{"rank", one.rank},
                                    {"call", one.name},
                                    {"communicator", one.communicator},
                                    {"sequence", one.sequence},
                                    {"at_seconds", one.begin},
                                    {"for", one.waited_for},
                                    {"seconds", one.waited}});
  for (const auto& [name, range] : ranges_) {
    json by_rank = json::array();
    for (const auto& [rank, seconds] : range.seconds) by_rank.push_back({{"rank", rank}, {"seconds", seconds}});
    all["ranges"].push_back({{"name", name}, {"times", range.calls}, {"ranks", std::move(by_rank)}});
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace tutti::tools
