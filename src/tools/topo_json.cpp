// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <nlohmann/json.hpp>
#include <tutti/version.hpp>

#include "tools/topo.hpp"

namespace tutti::tools {
namespace {

using detail::Element;
using detail::ElementKind;
using detail::Hardware;
using json = nlohmann::ordered_json;

constexpr std::array kind_names = {"rank", "core", "numa", "gpu", "nic"};

json element_json(const Element& element) {
  json links = json::array();
  for (const auto& entry : element.nvlinks) links.push_back({{"bus_id", entry.bus_id}, {"count", entry.count}});
  return {{"kind", kind_names[static_cast<std::size_t>(element.kind)]},
          {"name", element.name},
          {"detail", element.detail},
          {"node", element.node},
          {"core", element.core},
          {"cores", element.cores},
          {"l3", element.l3},
          {"numas", element.numas},
          {"bus_id", element.bus_id},
          {"bridges", element.bridges},
          {"nvlinks", std::move(links)}};
}

Element element_from(const json& object) {
  Element element;
  const auto kind = object.at("kind").get<std::string>();
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind == kind_names[i]) element.kind = static_cast<ElementKind>(i);
  object.at("name").get_to(element.name);
  object.at("detail").get_to(element.detail);
  object.at("node").get_to(element.node);
  object.at("core").get_to(element.core);
  object.at("cores").get_to(element.cores);
  object.at("l3").get_to(element.l3);
  object.at("numas").get_to(element.numas);
  object.at("bus_id").get_to(element.bus_id);
  object.at("bridges").get_to(element.bridges);
  for (const auto& entry : object.at("nvlinks"))
    element.nvlinks.push_back({entry.at("bus_id").get<std::string>(), entry.at("count").get<int>()});
  return element;
}

json hardware_json(const Hardware& hardware) {
  json elements = json::array();
  for (const Element& element : hardware.elements) elements.push_back(element_json(element));
  return {{"hosts", hardware.hosts}, {"elements", std::move(elements)}};
}

/// Names from the operating system may hold bytes that are not UTF-8.
std::string dump(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string hardware_to_json(const Hardware& hardware) { return dump(hardware_json(hardware), -1); }

Hardware hardware_from_json(const std::string& text) {
  const json value = json::parse(text);
  Hardware hardware;
  value.at("hosts").get_to(hardware.hosts);
  for (const auto& element : value.at("elements")) hardware.elements.push_back(element_from(element));
  return hardware;
}

std::string topo_json(const Hardware& hardware, const NetworkView& network) {
  json value = hardware_json(hardware);
  value["tutti"] = TUTTI_VERSION_STRING;
  value["summary"] = detail::summary(hardware);
  json matrix = json::array();
  for (std::size_t row = 0; row < hardware.elements.size(); ++row) {
    json cells = json::array();
    for (std::size_t column = 0; column < hardware.elements.size(); ++column)
      cells.push_back(detail::to_text(detail::relation(hardware, row, column)));
    matrix.push_back(std::move(cells));
  }
  value["matrix"] = std::move(matrix);
  value["network"] = json::parse(network_json(network));
  for (const auto& entry : detail::link_legend()) value["legend"][std::string(entry.label)] = entry.meaning;
  return dump(value, 2) + "\n";
}

}  // namespace tutti::tools
