// SPDX-License-Identifier: BSD-3-Clause
#include "replay/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/show/text_file.hpp"
#include "counts.hpp"
#include "document.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace tutti::commbench::replay {
namespace {

using OrderedJson = nlohmann::ordered_json;
using nlohmann::json;

/// The times of one kind of calls of one rank.
struct Times {
  Row row{};
  std::vector<double> recorded{};
  std::vector<double> replayed{};
};

std::string name_of(const RecordedCall& call) {
  const Exchange& e = call.exchange;
  const std::string base = e.operation                  ? std::string(operation_name(*e.operation))
                           : e.messages.size() != 1     ? "group"
                           : e.messages.front().is_recv ? "recv"
                                                        : "send";
  return call.mode == Mode::blocking ? base : call.mode == Mode::nonblocking ? "i" + base : "start " + base;
}

std::size_t bytes_of(const Exchange& e, std::size_t ranks) {
  if (!e.operation) {
    std::size_t bytes = 0;
    for (const Message& one : e.messages) bytes += one.bytes;
    return bytes;
  }
  if (e.has_counts()) return std::max(sum_of(e.send_counts), sum_of(e.recv_counts)) * e.type.size();
  return e.count * e.type.size() * (traits_of(*e.operation).has_one_vector() ? 1 : ranks);
}

RowKey key_of(const RecordedCall& call, std::size_t ranks) {
  const Exchange& e = call.exchange;
  const std::size_t bytes = bytes_of(e, ranks);
  const bool has_type = e.operation && e.operation != Operation::barrier;
  return {name_of(call), has_type ? datatype_name(e.type.kind()) : "-", e.op ? reduce_op_name(*e.op) : "-", ranks,
          bytes == 0 ? 0 : std::bit_ceil(bytes)};
}

/// The seconds that each call held the program: of a nonblocking one, in its wait.
struct Held {
  std::vector<std::optional<double>> recorded{};
  std::vector<double> replayed{};
};

Held held_of(const Recording& recording, const Played& played) {
  Held held{std::vector<std::optional<double>>(recording.calls.size()), std::vector<double>(recording.calls.size())};
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    const Step& step = recording.steps[i];
    if (step.kind == Step::Kind::start) continue;
    held.recorded[step.call] = step.length;
    held.replayed[step.call] = played.held[i];
  }
  return held;
}

std::map<RowKey, Times> times_of(const Recording& recording, const Played& played, Total& total) {
  std::map<RowKey, Times> all;
  const Held held = held_of(recording, played);
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const std::size_t ranks = recording.groups[call.group].world_ranks.size();
    Times& times = all[key_of(call, ranks)];
    ++times.row.calls;
    times.row.bytes += bytes_of(call.exchange, ranks);
    times.replayed.push_back(held.replayed[i]);
    if (held.recorded[i]) times.recorded.push_back(*held.recorded[i]);
    total.recorded += held.recorded[i].value_or(0);
    total.replayed += held.replayed[i];
  }
  total.calls = recording.calls.size();
  for (auto& [key, times] : all) {
    Row& row = times.row;
    total.bytes += row.bytes;
    row.timed = times.recorded.size();
    row.recorded = std::accumulate(times.recorded.begin(), times.recorded.end(), 0.0);
    row.replayed = std::accumulate(times.replayed.begin(), times.replayed.end(), 0.0);
    row.recorded_p50 = statistics_of(times.recorded).p50;
    row.replayed_p50 = statistics_of(times.replayed).p50;
  }
  return all;
}

json packed(const Row& r) {
  return {r.calls, r.bytes, r.timed, r.recorded, r.replayed, r.recorded_p50, r.replayed_p50};
}

void add(Row& sum, const json& one) {
  const auto calls = one[0].get<std::uint64_t>();
  const auto timed = one[2].get<std::uint64_t>();
  const auto mean = [](double& mean_of_all, std::uint64_t before, double value, std::uint64_t more) {
    const auto all = static_cast<double>(before + more);
    if (all > 0) mean_of_all += (value - mean_of_all) * static_cast<double>(more) / all;
  };
  mean(sum.recorded_p50, sum.timed, one[5].get<double>(), timed);
  mean(sum.replayed_p50, sum.calls, one[6].get<double>(), calls);
  sum.calls += calls;
  sum.bytes += one[1].get<std::uint64_t>();
  sum.timed += timed;
  sum.recorded += one[3].get<double>();
  sum.replayed += one[4].get<double>();
}

json packed(const Total& t) { return {t.calls, t.bytes, t.recorded, t.replayed, t.recorded_length, t.replayed_length}; }

Total total_of(const json& one) {
  return {one[0].get<std::uint64_t>(), one[1].get<std::uint64_t>(), one[2].get<double>(),
          one[3].get<double>(),        one[4].get<double>(),        one[5].get<double>()};
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view units = "KMGT";
  if (bytes < 1024) return std::to_string(bytes);
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < units.size(); bytes /= 1024) ++unit;
  return fmt::format("{}{}", bytes, units[unit]);
}

std::string ratio_text(double replayed, double recorded) {
  return recorded > 0 ? fmt::format("{:.2f}", replayed / recorded) : "-";
}

Total all_of(const std::vector<Total>& ranks) {
  Total sum;
  for (const Total& one : ranks) {
    sum.calls += one.calls;
    sum.bytes += one.bytes;
    sum.recorded += one.recorded;
    sum.replayed += one.replayed;
    sum.recorded_length = std::max(sum.recorded_length, one.recorded_length);
    sum.replayed_length = std::max(sum.replayed_length, one.replayed_length);
  }
  return sum;
}

OrderedJson to_ordered(const Total& t) {
  return {{"calls", t.calls},
          {"bytes", t.bytes},
          {"recorded_s", t.recorded},
          {"replayed_s", t.replayed},
          {"recorded_length_s", t.recorded_length},
          {"replayed_length_s", t.replayed_length}};
}

OrderedJson settings_json(const ReplaySettings& s) {
  const char* check = s.check == Check::all ? "all" : s.check == Check::sample ? "sample" : "off";
  return {
      {"files", s.files},   {"gaps", gaps_name(s.gaps)},      {"repeats", s.repeats},
      {"check", check},     {"memory", space_name(s.memory)}, {"algorithm", s.algorithm.empty() ? "auto" : s.algorithm},
      {"shrink", s.shrinks}};
}

}  // namespace

Comparison compare(const Communicator& comm, const Recording& recording, const Played& played) {
  const Team team(comm);
  Comparison result;
  result.format = recording.format;
  Total mine;
  json document = {{"rows", json::array()}, {"left_out", recording.left_out}};
  for (const auto& [key, times] : times_of(recording, played, mine))
    document["rows"].push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), std::get<4>(key), packed(times.row)});
  mine.recorded_length = recording.has_times ? recording.length : 0;
  mine.replayed_length = played.length;
  document["total"] = packed(mine);
  document["checks"] = {played.checked, played.wrong};
  for (const std::string& text : team.all_texts(document.dump(-1, ' ', true, json::error_handler_t::replace))) {
    const json one = json::parse(text);
    for (const json& row : one["rows"])
      add(result.rows[{row[0].get<std::string>(), row[1].get<std::string>(), row[2].get<std::string>(),
                       row[3].get<std::size_t>(), row[4].get<std::uint64_t>()}],
          row[5]);
    for (const auto& [name, calls] : one["left_out"].items()) result.left_out[name] += calls.get<std::uint64_t>();
    result.ranks.push_back(total_of(one["total"]));
    result.checked += one["checks"][0].get<std::uint64_t>();
    result.wrong += one["checks"][1].get<std::uint64_t>();
  }
  result.fault = team.first_text(played.fault);
  return result;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("{:22} {:10} {:6} {:>6} {:>6} {:>9} {:>14} {:>12} {:>12} {:>12} {:>12} {:>6}\n",
                                 "call", "type", "op", "ranks", "up to", "calls", "bytes", "recorded us", "replayed us",
                                 "recorded ms", "replayed ms", "ratio");
  for (const auto& [key, row] : comparison.rows) {
    const bool is_timed = row.timed == row.calls;
    const auto shown = [&](double value, double unit) {
      return is_timed ? fmt::format("{:.3f}", value * unit) : std::string("-");
    };
    text += fmt::format("{:22} {:10} {:6} {:>6} {:>6} {:>9} {:>14} {:>12} {:>12.3f} {:>12} {:>12.3f} {:>6}\n",
                        std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                        size_text(std::get<4>(key)), row.calls, row.bytes, shown(row.recorded_p50, 1e6),
                        row.replayed_p50 * 1e6, shown(row.recorded, 1e3), row.replayed * 1e3,
                        is_timed ? ratio_text(row.replayed, row.recorded) : "-");
  }
  const Total sum = all_of(comparison.ranks);
  text +=
      fmt::format("\n{} calls and {} bytes of {} ranks; us: the median of a rank, of nonblocking calls in the wait\n",
                  sum.calls, sum.bytes, comparison.ranks.size());
  text += fmt::format("in calls, all ranks: recorded {}, replayed {:.6f} s, ratio {}\n",
                      sum.recorded > 0 ? fmt::format("{:.6f} s", sum.recorded) : "-", sum.replayed,
                      ratio_text(sum.replayed, sum.recorded));
  text += fmt::format("whole trace: recorded {}, replayed {:.6f} s, ratio {}\n",
                      sum.recorded_length > 0 ? fmt::format("{:.6f} s", sum.recorded_length) : "-", sum.replayed_length,
                      ratio_text(sum.replayed_length, sum.recorded_length));
  for (const auto& [name, calls] : comparison.left_out) text += fmt::format("left out: {} x {}\n", calls, name);
  text += comparison.wrong > 0
              ? fmt::format("{} of {} results WRONG: {}\n", comparison.wrong, comparison.checked, comparison.fault)
              : fmt::format("{} results verified, none wrong\n", comparison.checked);
  return text;
}

void write_comparison(const std::string& path, const ReplaySettings& settings, const Communicator& comm,
                      const Comparison& comparison) {
  OrderedJson document = document_of(comm);
  document["settings"] = settings_json(settings);
  document["format"] = comparison.format;
  document["calls"] = OrderedJson::array();
  for (const auto& [key, row] : comparison.rows) {
    OrderedJson one = {
        {"call", std::get<0>(key)},  {"datatype", std::get<1>(key)},    {"reduce_op", std::get<2>(key)},
        {"ranks", std::get<3>(key)}, {"bytes_up_to", std::get<4>(key)}, {"calls", row.calls},
        {"bytes", row.bytes},        {"replayed_s", row.replayed},      {"replayed_p50_us", row.replayed_p50 * 1e6}};
    if (row.timed == row.calls) {
      one["recorded_s"] = row.recorded;
      one["recorded_p50_us"] = row.recorded_p50 * 1e6;
    }
    document["calls"].push_back(std::move(one));
  }
  document["all"] = to_ordered(all_of(comparison.ranks));
  document["ranks"] = OrderedJson::array();
  for (const Total& one : comparison.ranks) document["ranks"].push_back(to_ordered(one));
  document["left_out"] = comparison.left_out;
  document["checked"] = comparison.checked;
  document["wrong"] = comparison.wrong;
  miniapps::write_text(path, document.dump(1, ' ', true, OrderedJson::error_handler_t::replace) + "\n");
}

}  // namespace tutti::commbench::replay
