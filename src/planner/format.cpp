// SPDX-License-Identifier: BSD-3-Clause
#include "planner/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "core/hash.hpp"
#include "planner/names.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail::tuning {
namespace {

using Json = nlohmann::json;

constexpr std::string_view format_name = "tutti-tuning";
constexpr int format_version = 1;
constexpr int deepest = 6;                    // document, tables, table, cells, cell, seconds
constexpr std::size_t longest_text = 256;     // length of a name
constexpr std::size_t most_candidates = 256;  // number per cell
constexpr std::int64_t most_ranks = 1 << 24;
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr double most_seconds = 1e6;

[[noreturn]] void refuse(const std::string& reason) { throw Error(ErrorCode::io, reason); }

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse(fmt::format("member '{}' is missing", name));
  return *found;
}

std::string text_of(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string()) refuse(fmt::format("member '{}' is not a text", name));
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > longest_text) refuse(fmt::format("member '{}' is longer than {}", name, longest_text));
  return text;
}

std::int64_t whole_of(const Json& value, const char* name, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) refuse(fmt::format("member '{}' is not a whole number", name));
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse(fmt::format("member '{}' is more than {}", name, most));
  const auto number = value.get<std::int64_t>();
  if (number < least)  // a greater one is unsigned
    refuse(fmt::format("member '{}' is {}; it must be from {} to {}", name, number, least, most));
  return number;
}

std::vector<int> counts_of(const Json& object, const char* name) {
  const Json& list = member(object, name);
  if (!list.is_array()) refuse(fmt::format("member '{}' is not a list", name));
  std::vector<int> counts;
  for (const Json& value : list) counts.push_back(static_cast<int>(whole_of(value, name, 1, most_ranks)));
  return counts;
}

Key read_key(const Json& json) {
  if (!json.is_object()) refuse("member 'machine' is not an object");
  Key key;
  key.ranks = static_cast<int>(whole_of(member(json, "ranks"), "ranks", 1, most_ranks));
  key.ranks_per_node = counts_of(json, "ranks_per_node");
  key.cores_per_node = counts_of(json, "cores_per_node");
  key.cpu = text_of(json, "cpu");
  key.mpi = text_of(json, "mpi");
  return key;
}

std::map<std::string, double, std::less<>> read_seconds(const Json& json) {
  if (!json.is_object() || json.empty()) refuse("member 'seconds' is not an object with candidates");
  if (json.size() > most_candidates) refuse(fmt::format("a cell has more than {} candidates", most_candidates));
  std::map<std::string, double, std::less<>> seconds;
  for (const auto& [name, value] : json.items()) {
    if (name.empty() || name.size() > longest_text) refuse("the name of a candidate is empty or too long");
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(number) || number <= 0 || number > most_seconds)
      refuse(fmt::format("the time of '{}' is not from 0 to {} s", name, most_seconds));
    seconds.emplace(name, number);
  }
  return seconds;
}

Cell read_cell(const Json& json) {
  if (!json.is_object()) refuse("a cell is not an object");
  Cell cell;
  if (!find_operation(text_of(json, "operation"), cell.operation)) refuse("a cell has an unknown operation");
  if (!find_call_kind(text_of(json, "call"), cell.kind)) refuse("a cell has an unknown kind of call");
  if (!find_arithmetic(text_of(json, "arithmetic"), cell.type.arithmetic))
    refuse("a cell has an unknown class of datatypes");
  cell.type.element_bytes =
      static_cast<std::size_t>(whole_of(member(json, "element_bytes"), "element_bytes", 1, most_bytes));
  cell.bytes = static_cast<std::size_t>(whole_of(member(json, "bytes"), "bytes", 0, most_bytes));
  cell.seconds = read_seconds(member(json, "seconds"));
  return cell;
}

/// Sorts the cells to detect a place that occurs twice.
void refuse_doubles(const std::vector<Cell>& cells) {
  std::vector<std::array<std::size_t, 5>> places;
  for (const Cell& cell : cells)
    places.push_back({static_cast<std::size_t>(cell.operation), static_cast<std::size_t>(cell.kind),
                      static_cast<std::size_t>(cell.type.arithmetic), cell.type.element_bytes, cell.bytes});
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) refuse("a cell occurs twice");
}

double figure_of(const Json& json, std::string_view name) {
  const auto found = json.find(name);
  const double value = found != json.end() && found->is_number() ? found->get<double>() : -1;
  constexpr double most = 1e15;  // bytes/s
  if (!std::isfinite(value) || value < 0 || value > most) refuse(fmt::format("a link has no figure '{}'", name));
  return value;
}

Links read_links(const Json& json) {
  if (!json.is_object() || json.empty()) refuse("member 'links' is not an object with levels");
  Links links;
  for (const auto& [name, level] : json.items()) {
    const auto found = std::ranges::find(link_level_names, name);
    if (found == link_level_names.end() || !level.is_object()) refuse(fmt::format("there is no level '{}'", name));
    Link& link = links.levels[static_cast<std::size_t>(found - link_level_names.begin())];
    for (const LinkFigure& figure : link_figures)
      if (figure.is_required || level.contains(figure.name)) link.*figure.value = figure_of(level, figure.name);
    if (level.contains("eager") != level.contains("long_latency"))
      refuse(fmt::format("the level '{}' has one of 'eager' and 'long_latency'", name));
    if (!is_measured(link)) refuse(fmt::format("the level '{}' has no rate", name));
  }
  return links;
}

double positive(double figure) {
  if (figure <= 0) refuse("member 'fabric' has a figure that is 0");
  return figure;
}

void read_groups(const Json& json, Fabric& fabric) {
  const Json& groups = member(json, "groups");
  if (!groups.is_array() || groups.empty() || groups.size() > fabric.by_group.size())
    refuse(fmt::format("member 'groups' is not a list of up to {}", fabric.by_group.size()));
  std::ranges::transform(groups, fabric.by_group.begin(), [](const Json& group) -> Fabric::Group {
    if (!group.is_object()) refuse("a group is not an object");
    return {figure_of(group, "latency"), figure_of(group, "between"), figure_of(group, "leaving")};
  });
  fabric.within_group = figure_of(json, "within_group");
}

Fabric read_fabric(const Json& json) {
  if (!json.is_object()) refuse("member 'fabric' is not an object");
  const Json& distances = member(json, "distances");
  if (!distances.is_array() || distances.empty() || distances.size() > Fabric::most_distances)
    refuse(fmt::format("member 'distances' is not a list of up to {}", Fabric::most_distances));
  Fabric fabric;
  std::ranges::transform(distances, fabric.at.begin(), [](const Json& distance) -> Fabric::Distance {
    if (!distance.is_object()) refuse("a distance is not an object");
    return {positive(figure_of(distance, "latency")), positive(figure_of(distance, "rate"))};
  });
  fabric.everywhere = positive(figure_of(json, "everywhere"));
  if (json.contains("groups")) read_groups(json, fabric);
  return fabric;
}

Json write_fabric(const Fabric& fabric) {
  Json distances = Json::array();
  for (const Fabric::Distance& distance : std::span(fabric.at).first(distances_of(fabric)))
    distances.push_back({{"latency", distance.latency}, {"rate", distance.rate}});
  Json json = {{"distances", std::move(distances)}, {"everywhere", fabric.everywhere}};
  if (!is_measured_by_group(fabric)) return json;
  for (const Fabric::Group& group : fabric.by_group)
    json["groups"].push_back({{"latency", group.latency}, {"between", group.between}, {"leaving", group.leaving}});
  json["within_group"] = fabric.within_group;
  return json;
}

Json write_links(const Links& links) {
  Json json = Json::object();
  for (std::size_t level = 0; level < link_levels; ++level) {
    if (!is_measured(links.levels[level])) continue;
    Json& figures = json[std::string(link_level_names[level])];
    for (const LinkFigure& figure : link_figures) figures[std::string(figure.name)] = links.levels[level].*figure.value;
  }
  return json;
}

Section read_section(const Json& json) {
  if (!json.is_object()) refuse("a table is not an object");
  Section section;
  section.key = read_key(member(json, "machine"));
  const Json& cells = member(json, "cells");
  if (!cells.is_array()) refuse("member 'cells' is not a list");
  for (const Json& cell : cells) section.cells.push_back(read_cell(cell));
  refuse_doubles(section.cells);
  if (const auto links = json.find("links"); links != json.end()) section.links = read_links(*links);
  if (const auto fabric = json.find("fabric"); fabric != json.end()) {
    if (!section.links) refuse("member 'fabric' stands without links");
    section.links->fabric = read_fabric(*fabric);
  }
  return section;
}

Json parse_json(std::string_view text) {
  const auto check_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) refuse("it is nested too deeply");
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_depth);
  } catch (const Json::exception& e) {
    refuse(fmt::format("it is damaged or truncated ({})", e.what()));
  }
}

/// The checksum of the tables as printed without blanks.
std::string checksum(const Json& tables) {
  try {
    return fmt::format("{:016x}", hash(tables.dump()));
  } catch (const Json::exception&) {
    refuse("a text in it is not UTF-8");
  }
}

Json write_cell(const Cell& cell) {
  return {{"operation", operation_name(cell.operation)},
          {"call", call_kind_name(cell.kind)},
          {"arithmetic", arithmetic_name(cell.type.arithmetic)},
          {"element_bytes", cell.type.element_bytes},
          {"bytes", cell.bytes},
          {"seconds", cell.seconds}};
}

Json write_section(const Section& section) {
  Json cells = Json::array();
  for (const Cell& cell : section.cells) cells.push_back(write_cell(cell));
  Json json = {{"machine",
                {{"ranks", section.key.ranks},
                 {"ranks_per_node", section.key.ranks_per_node},
                 {"cores_per_node", section.key.cores_per_node},
                 {"cpu", section.key.cpu},
                 {"mpi", section.key.mpi}}},
               {"cells", std::move(cells)}};
  if (section.links) json["links"] = write_links(*section.links);
  if (section.links && distances_of(section.links->fabric) > 0) json["fabric"] = write_fabric(section.links->fabric);
  return json;
}

}  // namespace

std::vector<Section> parse(std::string_view text) {
  const Json document = parse_json(text);
  if (!document.is_object() || text_of(document, "format") != format_name)
    refuse("it is not a table of measurements of tutti");
  if (const auto version = whole_of(member(document, "version"), "version", 0, 1'000'000); version != format_version)
    refuse(fmt::format("its format has version {}, but this library reads version {}", version, format_version));
  if (const std::string library = text_of(document, "library"); library != TUTTI_VERSION_STRING)
    refuse(fmt::format("tutti {} measured it, but this is {}", library, TUTTI_VERSION_STRING));
  const Json& tables = member(document, "tables");
  if (!tables.is_array()) refuse("member 'tables' is not a list");
  if (text_of(document, "checksum") != checksum(tables)) refuse("it is damaged (its checksum does not match)");
  std::vector<Section> sections;
  for (const Json& table : tables) sections.push_back(read_section(table));
  return sections;
}

std::string print(const std::vector<Section>& sections) {
  Json tables = Json::array();
  for (const Section& section : sections) tables.push_back(write_section(section));
  // Formatted by hand with one cell per line, so that small differences between two tables show.
  std::string text = fmt::format("{{\"format\": \"{}\", \"version\": {}, \"library\": \"{}\", \"checksum\": \"{}\",\n",
                                 format_name, format_version, TUTTI_VERSION_STRING, checksum(tables));
  text += "\"tables\": [";
  const char* between_tables = "\n";
  for (const Json& table : tables) {
    text += fmt::format("{}{{\"machine\": {},\n ", between_tables, table["machine"].dump());
    for (const char* name : {"links", "fabric"})
      if (table.contains(name)) text += fmt::format("\"{}\": {},\n ", name, table[name].dump());
    text += "\"cells\": [";
    const char* between_cells = "\n  ";
    for (const Json& cell : table["cells"]) {
      text += between_cells + cell.dump();
      between_cells = ",\n  ";
    }
    text += "]}";
    between_tables = ",\n";
  }
  return text + "]}\n";
}

}  // namespace tutti::detail::tuning
