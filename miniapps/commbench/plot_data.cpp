// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/show/text_file.hpp"
#include "plot.hpp"

namespace tutti::commbench {
namespace {

using Json = nlohmann::json;

std::string title_of(const Json& point) {
  std::string title = point.at("operation").get<std::string>();
  for (const char* key : {"datatype", "reduce_op", "memory", "mode"}) {
    const auto text = point.at(key).get<std::string>();
    const bool is_usual = text == "-" || text == "host" || text == "blocking";
    if (!is_usual) title += ", " + text;
  }
  return title;
}

double value_of(const Json& point, Metric metric) {
  if (metric == Metric::latency) return point.at("latency_us").at("p50").get<double>();
  const char* key = metric == Metric::bus_bandwidth ? "busbw_gb_s" : "algbw_gb_s";
  return point.value(key, 0.0);
}

template <typename T, typename Key>
T& find_or_add(std::vector<T>& all, const std::string& name, const Key& key) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& entry) { return entry.*key == name; });
  if (found != all.end()) return *found;
  all.push_back({});
  all.back().*key = name;
  return all.back();
}

bool is_wanted(const Json& point, const PlotOptions& options) {
  if (point.contains("skipped")) return false;
  const auto& only = options.operations;
  return only.empty() || std::find(only.begin(), only.end(), point.at("operation").get<std::string>()) != only.end();
}

/// A logarithmic axis has no zero: a barrier, of no bytes, is drawn at 1.
void add_point(const Json& point, Metric metric, std::vector<Panel>& panels) {
  const double y = value_of(point, metric);
  if (!(y > 0)) return;
  Panel& panel = find_or_add(panels, title_of(point), &Panel::title);
  const auto algorithm = point.at("algorithm").get<std::string>();
  Curve& curve = find_or_add(panel.curves, algorithm == "auto" ? "Tutti" : algorithm, &Curve::name);
  curve.x.push_back(std::max(1.0, point.at("bytes").get<double>()));
  curve.y.push_back(y);
}

}  // namespace

std::vector<Panel> read_panels(const std::string& json_text, const PlotOptions& options) {
  std::vector<Panel> panels;
  try {
    const Json document = Json::parse(json_text);
    for (const Json& point : document.at("points"))
      if (is_wanted(point, options)) add_point(point, options.metric, panels);
  } catch (const Json::exception& error) {
    throw std::invalid_argument(
        fmt::format("{}: not a file that tutti-commbench --json wrote ({})", options.input, error.what()));
  }
  if (panels.empty())
    throw std::invalid_argument(
        fmt::format("{}: no figures to draw; look at --operations and --metric", options.input));
  return panels;
}

PlotHeading read_heading(const std::string& json_text, const PlotOptions& options) {
  PlotHeading heading;
  const char* what[] = {"latency", "algorithm bandwidth", "bus bandwidth"};
  heading.title = fmt::format("Collectives: {}", what[static_cast<int>(options.metric)]);
  const auto add = [&heading](const std::string& note) {
    if (!note.empty()) heading.notes += (heading.notes.empty() ? "" : "; ") + note;
  };
  try {
    const Json document = Json::parse(json_text);
    const Json machine = document.value("machine", Json::object());
    add(machine.value("processor", ""));
    if (machine.contains("ranks"))
      add(fmt::format("{} ranks on {} node{}", machine.at("ranks").get<int>(), machine.value("nodes", 1),
                      machine.value("nodes", 1) == 1 ? "" : "s"));
    for (const Json& library : machine.value("libraries", Json::array()))
      if (const auto line = library.get<std::string>(); line.starts_with("MPI: ")) add(line.substr(5));
    add(document.value("date", ""));
  } catch (const Json::exception& error) {
    throw std::invalid_argument(
        fmt::format("{}: not a file that tutti-commbench --json wrote ({})", options.input, error.what()));
  }
  return heading;
}

void plot(const PlotOptions& options) {
  const std::string text = miniapps::read_text(options.input);
  const auto panels = read_panels(text, options);
  miniapps::write_text(options.output, draw_panels(panels, options.metric, read_heading(text, options)));
}

}  // namespace tutti::commbench
