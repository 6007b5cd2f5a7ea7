// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/show/text_file.hpp"
#include "document.hpp"
#include "statistics.hpp"

namespace tutti::commbench {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string op_name(const Point& point) { return point.op ? reduce_op_name(*point.op) : "-"; }

std::string type_name(const Point& point) {
  if (point.operation == Operation::barrier) return "-";
  if (point.type.kind() == DatatypeKind::bytes) return fmt::format("bytes({})", point.type.size());
  return datatype_name(point.type.kind());
}

const char* check_name(Check check) { return check == Check::all ? "all" : check == Check::sample ? "sample" : "off"; }

const char* reuse_name(Reuse reuse) {
  return reuse == Reuse::reuse ? "reuse" : reuse == Reuse::cold ? "cold" : "fresh";
}

struct Figures {
  Statistics us;
  double algbw = 0;
  double busbw = 0;
};

Figures figures_of(const Point& point, const Measurement& m, int ranks) {
  const Statistics s = statistics_of(m.seconds);
  const double algbw = algorithm_bandwidth(m.bytes * static_cast<std::size_t>(m.communicators), s.p50);
  const double factor = point.traffic ? bus_factor(*point.traffic, ranks) : bus_factor(point.operation, ranks);
  return {{s.min * 1e6, s.p50 * 1e6, s.p95 * 1e6, s.p99 * 1e6, s.max * 1e6}, algbw, algbw * factor};
}

std::string check_text(const Measurement& m) {
  if (m.wrong > 0) return fmt::format("{} WRONG: {}", m.wrong, m.fault);
  return m.checked > 0 ? fmt::format("{} ok", m.checked) : "unchecked";
}

std::string overlap_text(const Measurement& m) {
  if (!m.overlap) return "-";
  std::string text = fmt::format("{:3.0f}/{:3.0f}", m.overlap->percent, m.overlap->tested_percent);
  if (m.overlap->probes > 0)
    text += fmt::format("/{:3.0f}, {:.1f} us", m.overlap->probed_percent, m.overlap->probed_wait * 1e6);
  return text;
}

OrderedJson overlap_json(const Overlap& o) {
  OrderedJson json = {{"pure_us", o.pure * 1e6},
                      {"compute_us", o.compute * 1e6},
                      {"total_us", o.total * 1e6},
                      {"percent", o.percent},
                      {"tests", o.tests},
                      {"total_with_tests_us", o.tested_total * 1e6},
                      {"percent_with_tests", o.tested_percent}};
  if (o.probes > 0) {
    json["probes"] = o.probes;
    json["total_with_probes_us"] = o.probed_total * 1e6;
    json["wait_with_probes_us"] = o.probed_wait * 1e6;
    json["percent_with_probes"] = o.probed_percent;
  }
  return json;
}

double slow_down(double beside, double alone) { return alone > 0 ? beside / alone : 0; }

constexpr std::string_view together_columns = "{:>10} {:>10} {:>10} {:>6} {:>9} {:>9}  ";

std::string beside_header(Beside beside) {
  if (beside == Beside::nothing) return {};
  const std::string name = beside == Beside::embedding ? "bags" : beside_name(beside);
  return fmt::format(together_columns, "call us", name + " us", "both us", "call x", name + " x", "hidden %");
}

/// Alone, alone, both; how many times as long each takes beside the other; hidden communication.
std::string together_text(const Measurement& m) {
  if (!m.together) return fmt::format(together_columns, "-", "-", "-", "-", "-", "-");
  const Together& t = *m.together;
  const auto us = [](double seconds) { return fmt::format("{:.2f}", seconds * 1e6); };
  const auto times = [](double beside, double alone) { return fmt::format("{:.2f}", slow_down(beside, alone)); };
  return fmt::format(together_columns, us(t.call), us(t.computation), us(t.both), times(t.call_beside, t.call),
                     times(t.computed_beside, t.computation), fmt::format("{:.0f}", t.percent));
}

std::string together_csv(const Measurement& m) {
  if (!m.together) return ",,,,,";
  const Together& t = *m.together;
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.1f}", t.call * 1e6, t.computation * 1e6, t.both * 1e6,
                     slow_down(t.call_beside, t.call), slow_down(t.computed_beside, t.computation), t.percent);
}

OrderedJson together_json(const Together& t) {
  return {{"size", t.size},
          {"call_us", t.call * 1e6},
          {"computation_us", t.computation * 1e6},
          {"both_us", t.both * 1e6},
          {"call_beside_us", t.call_beside * 1e6},
          {"computation_beside_us", t.computed_beside * 1e6},
          {"call_slow_down", slow_down(t.call_beside, t.call)},
          {"computation_slow_down", slow_down(t.computed_beside, t.computation)},
          {"percent", t.percent}};
}

double median(const std::vector<Queued>& rounds, double Queued::*figure) {
  std::vector<double> values;
  for (const Queued& round : rounds) values.push_back(round.*figure * 1e6);
  return statistics_of(values).p50;
}

OrderedJson queued_json(const std::vector<Queued>& rounds) {
  return {{"launch", median(rounds, &Queued::launch)},
          {"device", median(rounds, &Queued::device)},
          {"total", median(rounds, &Queued::total)},
          {"rounds", rounds.size()}};
}

OrderedJson point_json(const PointResult& result, const Measurement& m, int ranks) {
  const Point& p = result.point;
  OrderedJson json = {{"operation", name_of(p)},        {"datatype", type_name(p)},        {"reduce_op", op_name(p)},
                      {"memory", space_name(p.memory)}, {"mode", mode_name(p.mode)},       {"bytes", m.bytes},
                      {"algorithm", m.algorithm},       {"chosen_by_tutti", result.chosen}};
  if (!m.skipped.empty()) {
    json["skipped"] = m.skipped;
    return json;
  }
  const Figures f = figures_of(p, m, ranks);
  json["iterations"] = m.seconds.size();
  json["latency_us"] = {{"min", f.us.min}, {"p50", f.us.p50}, {"p95", f.us.p95}, {"p99", f.us.p99}, {"max", f.us.max}};
  json["algbw_gb_s"] = f.algbw;
  json["busbw_gb_s"] = f.busbw;
  json["checked"] = m.checked;
  json["wrong"] = m.wrong;
  if (m.wrong > 0) json["fault"] = m.fault;
  if (!m.queued.empty()) json["queued_us"] = queued_json(m.queued);
  if (m.overlap) json["overlap"] = overlap_json(*m.overlap);
  if (m.together) json["beside"] = together_json(*m.together);
  return json;
}

const char* accumulation_name(Accumulation accumulation) {
  if (accumulation == Accumulation::exact) return "exact";
  return accumulation == Accumulation::full ? "full" : "backend";
}

OrderedJson settings_json(const Settings& s) {
  return {{"check", check_name(s.check)},
          {"buffers", reuse_name(s.reuse)},
          {"cold_bytes", s.cold_bytes},
          {"warm_up", s.warm_up},
          {"rounds", s.rounds},
          {"budget_s", s.budget},
          {"min_iterations", s.min_iterations},
          {"max_iterations", s.max_iterations},
          {"root", s.root},
          {"splits", splits_text(s.splits)},
          {"in_place", s.in_place},
          {"communicators", s.communicators},
          {"beside", beside_name(s.beside)},
          {"accumulation", accumulation_name(s.accumulation)}};
}

}  // namespace

TableWidths table_widths(const std::vector<Point>& points, const std::vector<std::string>& algorithms, Beside beside) {
  TableWidths widths;
  widths.beside = beside;
  for (const Point& point : points) {
    widths.operation = std::max(widths.operation, name_of(point).size());
    widths.type = std::max(widths.type, type_name(point).size());
    widths.op = std::max(widths.op, op_name(point).size());
  }
  for (const std::string& name : algorithms) widths.algorithm = std::max(widths.algorithm, name.size());
  return widths;
}

std::string table_header(const TableWidths& w) {
  return fmt::format(
      "{:{}} {:{}} {:{}} {:>11} {:7} {:11} {:{}} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}  {}\n",
      "operation", w.operation, "type", w.type, "op", w.op, "total bytes", "memory", "mode", "algorithm", w.algorithm,
      "calls", "min us", "p50 us", "p95 us", "p99 us", "algbw GB/s", "busbw GB/s", "overlap %",
      beside_header(w.beside) + "check");
}

std::string table_lines(const TableWidths& w, const PointResult& result, int ranks) {
  std::string text;
  const Point& p = result.point;
  for (const Measurement& m : result.measurements) {
    const std::string name = m.algorithm == "auto" ? fmt::format("auto ({})", result.chosen) : m.algorithm;
    text += fmt::format("{:{}} {:{}} {:{}} {:>11} {:7} {:11} {:{}} ", name_of(p), w.operation, type_name(p), w.type,
                        op_name(p), w.op, m.bytes, space_name(p.memory), mode_name(p.mode), name, w.algorithm);
    if (!m.skipped.empty()) {
      text += fmt::format("left out: {}\n", m.skipped);
      continue;
    }
    const Figures f = figures_of(p, m, ranks);
    text += fmt::format("{:>9} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.3f} {:10.3f} {:>9}  {}\n", m.seconds.size(),
                        f.us.min, f.us.p50, f.us.p95, f.us.p99, f.algbw, f.busbw, overlap_text(m),
                        (w.beside == Beside::nothing ? std::string() : together_text(m)) + check_text(m));
  }
  return text;
}

void write_json(const std::string& path, const Settings& settings, const Communicator& comm,
                const std::vector<PointResult>& results) {
  OrderedJson json = document_of(comm);
  json["settings"] = settings_json(settings);
  json["points"] = OrderedJson::array();
  for (const PointResult& result : results)
    for (const Measurement& m : result.measurements) json["points"].push_back(point_json(result, m, comm.size()));
  miniapps::write_text(path, json.dump(1, ' ', true, OrderedJson::error_handler_t::replace) + "\n");
}

void write_csv(const std::string& path, const std::vector<PointResult>& results, int ranks) {
  std::string text =
      "operation,datatype,reduce_op,memory,mode,bytes,algorithm,iterations,min_us,p50_us,p95_us,p99_us,algbw_gb_s,"
      "busbw_gb_s,overlap_percent,overlap_with_tests_percent,overlap_with_probes_percent,beside_call_us,beside_"
      "computation_us,beside_both_us,"
      "beside_call_slow_down,beside_computation_slow_down,beside_percent,checked,wrong\n";
  for (const PointResult& result : results)
    for (const Measurement& m : result.measurements) {
      if (!m.skipped.empty()) continue;
      const Point& p = result.point;
      const Figures f = figures_of(p, m, ranks);
      std::string overlap = ",,";
      if (m.overlap)
        overlap = fmt::format("{:.1f},{:.1f},", m.overlap->percent, m.overlap->tested_percent) +
                  (m.overlap->probes > 0 ? fmt::format("{:.1f}", m.overlap->probed_percent) : "");
      text += fmt::format("{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{},{},{},{}\n", name_of(p),
                          type_name(p), op_name(p), space_name(p.memory), mode_name(p.mode), m.bytes, m.algorithm,
                          m.seconds.size(), f.us.min, f.us.p50, f.us.p95, f.us.p99, f.algbw, f.busbw, overlap,
                          together_csv(m), m.checked, m.wrong);
    }
  miniapps::write_text(path, text);
}

}  // namespace tutti::commbench
