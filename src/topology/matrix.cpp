// SPDX-License-Identifier: BSD-3-Clause
#include "topology/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::detail {
namespace {

constexpr auto legend = std::to_array<LegendEntry>({
    {Connection::self, "X", "self"},
    {Connection::core, "CORE", "the same core"},
    {Connection::nvlink, "NV#", "a bonded set of # NVLinks"},
    {Connection::pix, "PIX", "at most one PCIe switch between the devices"},
    {Connection::pxb, "PXB", "several PCIe switches, but no PCIe host bridge"},
    {Connection::l3, "L3", "the same L3 cache"},
    {Connection::phb, "PHB",
     "a PCIe host bridge; between a device and a rank, core or NUMA node: the device is local to it"},
    {Connection::node, "NODE", "the same NUMA node; between devices: host bridges of one NUMA node"},
    {Connection::sys, "SYS", "the connection between NUMA nodes"},
    {Connection::net, "NET", "the network between nodes"},
});

bool is_device(const Element& element) { return element.kind == ElementKind::gpu || element.kind == ElementKind::nic; }

int nvlinks_between(const Element& a, const Element& b) {
  const auto count_to = [](const Element& from, const Element& to) {
    for (const NvLinks& links : from.nvlinks)
      if (links.bus_id == to.bus_id) return links.count;
    return 0;
  };
  return std::max(count_to(a, b), count_to(b, a));
}

bool share_one_numa(const Element& a, const Element& b) { return a.numas.size() == 1 && a.numas == b.numas; }

Relation between_devices(const Element& a, const Element& b) {
  if (const int links = nvlinks_between(a, b); links > 0) return {Connection::nvlink, links};
  const auto [end_a, end_b] = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  const auto common = end_a - a.bridges.begin();
  if (common == 0) return {share_one_numa(a, b) ? Connection::node : Connection::sys};
  if (common == 1) return {Connection::phb};
  // Below the last common bridge, a switch has one more bridge (its downstream port) on the way to each device.
  const auto below = std::max(a.bridges.end() - end_a, b.bridges.end() - end_b);
  return {below <= 1 ? Connection::pix : Connection::pxb};
}

Relation to_device(const Element& place, const Element& device) {
  const bool is_local = !place.numas.empty() &&
                        std::includes(device.numas.begin(), device.numas.end(), place.numas.begin(), place.numas.end());
  return {is_local ? Connection::phb : Connection::sys};
}

Relation between_places(const Element& a, const Element& b) {
  if (a.core >= 0 && a.core == b.core) return {Connection::core};
  if (a.l3 >= 0 && a.l3 == b.l3) return {Connection::l3};
  return {share_one_numa(a, b) ? Connection::node : Connection::sys};
}

}  // namespace

std::span<const LegendEntry> link_legend() { return legend; }

Relation relation(const Hardware& hardware, std::size_t a, std::size_t b) {
  if (a == b) return {Connection::self};
  const Element& x = hardware.elements[a];
  const Element& y = hardware.elements[b];
  if (x.node != y.node) return {Connection::net};
  if (is_device(x) && is_device(y)) return between_devices(x, y);
  if (is_device(x)) return to_device(y, x);
  if (is_device(y)) return to_device(x, y);
  return between_places(x, y);
}

std::string to_text(const Relation& cell) {
  if (cell.link == Connection::nvlink) return fmt::format("NV{}", cell.count);
  const auto found =
      std::find_if(legend.begin(), legend.end(), [&](const LegendEntry& entry) { return entry.link == cell.link; });
  return std::string(found->label);
}

std::string summary(const Hardware& hardware) {
  const auto words = [](std::size_t n, std::string_view one) {
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
  };
  constexpr std::array<std::string_view, 5> kinds = {"rank", "core", "NUMA node", "GPU", "NIC"};
  std::array<std::size_t, 5> counts{};
  for (const Element& element : hardware.elements)
    counts[static_cast<std::size_t>(element.kind)] +=
        element.kind == ElementKind::core ? static_cast<std::size_t>(element.cores) : 1;
  std::string text = words(hardware.hosts.size(), "node");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (counts[kind] > 0) text += ", " + words(counts[kind], kinds[kind]);
  return text;
}

}  // namespace tutti::detail
