// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tutti/error.hpp>

#include "core/hwloc_handle.hpp"
#include "topology/hardware.hpp"
#include "topology/nvlink.hpp"

namespace tutti::detail {
namespace {

/// Loads a topology with PCI and operating system devices from the source that `choose` sets.
template <typename Choose>
TopologyHandle load(const std::string& what, std::string_view remedy, Choose&& choose) {
  hwloc_topology_t raw = nullptr;
  const auto fail = [&] {
    throw Error(ErrorCode::io,
                fmt::format("topology: hwloc cannot read {}: {}; {}", what, std::strerror(errno), remedy));
  };
  if (hwloc_topology_init(&raw) != 0) fail();
  TopologyHandle topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (choose(raw) != 0 || hwloc_topology_load(raw) != 0) fail();
  return topology;
}

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

std::vector<int> numas_of(hwloc_topology_t topology, hwloc_obj_t object) {
  const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, object);
  std::vector<int> numas;
  hwloc_obj_t numa = nullptr;
  while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != nullptr)
    if (hwloc_bitmap_isset(place->nodeset, numa->os_index) != 0) numas.push_back(static_cast<int>(numa->logical_index));
  return numas;
}

Element core_element(hwloc_topology_t topology, hwloc_obj_t object) {
  Element core;
  core.kind = ElementKind::core;
  core.core = static_cast<int>(object->logical_index);
  core.cores = 1;
  core.name = fmt::format("core {}", core.core);
  const int units = hwloc_bitmap_weight(object->cpuset);
  core.detail = fmt::format("{} processing unit{}", units, units == 1 ? "" : "s");
  const hwloc_obj_t l3 = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_L3CACHE, object);
  if (l3 != nullptr) core.l3 = static_cast<int>(l3->logical_index);
  core.numas = numas_of(topology, object);
  return core;
}

Element numa_element(hwloc_obj_t object) {
  Element numa;
  numa.kind = ElementKind::numa;
  numa.name = fmt::format("NUMA {}", object->logical_index);
  numa.numas = {static_cast<int>(object->logical_index)};
  numa.detail = fmt::format("{:.1f} GiB", static_cast<double>(object->attr->numanode.local_memory) / 1073741824.0);
  return numa;
}

/// The operating system's devices below a PCI device.
std::vector<hwloc_obj_t> system_devices(hwloc_obj_t pci) {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling)
    if (child->type == HWLOC_OBJ_OS_DEVICE) found.push_back(child);
  return found;
}

std::vector<std::string> names_of(hwloc_obj_t pci, hwloc_obj_osdev_type_t type) {
  std::vector<std::string> names;
  for (const hwloc_obj_t device : system_devices(pci))
    if (device->attr->osdev.type == type) names.emplace_back(device->name == nullptr ? "?" : device->name);
  return names;
}

/// Processing accelerators, and display controllers by makers of accelerators. A server's console is neither.
bool is_gpu(hwloc_obj_t pci) {
  constexpr std::array<unsigned short, 3> makers = {0x10de, 0x1002, 0x8086};
  const unsigned short base_class = pci->attr->pcidev.class_id >> 8U;
  const bool is_display = base_class == 0x03;
  return base_class == 0x12 ||
         (is_display && std::find(makers.begin(), makers.end(), pci->attr->pcidev.vendor_id) != makers.end());
}

std::string model_of(hwloc_obj_t pci) {
  for (const hwloc_obj_t device : system_devices(pci))
    if (const std::string model = info_of(device, "GPUModel"); !model.empty()) return model;
  const std::string vendor = info_of(pci, "PCIVendor");
  const std::string device = info_of(pci, "PCIDevice");
  if (!vendor.empty() || !device.empty()) return vendor + (vendor.empty() ? "" : " ") + device;
  return fmt::format("PCI {:04x}:{:04x}", pci->attr->pcidev.vendor_id, pci->attr->pcidev.device_id);
}

Element pci_element(hwloc_topology_t topology, hwloc_obj_t pci) {
  const auto& address = pci->attr->pcidev;
  Element element;
  element.bus_id = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(address.domain), address.bus,
                               address.dev, address.func);
  element.numas = numas_of(topology, pci);
  element.detail = model_of(pci);
  for (hwloc_obj_t above = pci->parent; above != nullptr && above->type == HWLOC_OBJ_BRIDGE; above = above->parent)
    element.bridges.insert(element.bridges.begin(), above->gp_index);
  return element;
}

/// Names a network card by its OpenFabrics name, if it has one, and lists its interfaces.
bool make_nic(hwloc_obj_t pci, Element& element) {
  std::vector<std::string> names = names_of(pci, HWLOC_OBJ_OSDEV_OPENFABRICS);
  const std::vector<std::string> interfaces = names_of(pci, HWLOC_OBJ_OSDEV_NETWORK);
  names.insert(names.end(), interfaces.begin(), interfaces.end());
  if (names.empty()) return false;
  element.kind = ElementKind::nic;
  element.name = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) element.detail += (i == 1 ? ", also " : ", ") + names[i];
  return true;
}

void add_pci_devices(hwloc_topology_t topology, Hardware& hardware) {
  std::vector<Element> gpus;
  std::vector<Element> nics;
  hwloc_obj_t pci = nullptr;
  while ((pci = hwloc_get_next_pcidev(topology, pci)) != nullptr) {
    Element element = pci_element(topology, pci);
    if (is_gpu(pci)) {
      element.kind = ElementKind::gpu;
      gpus.push_back(std::move(element));
    } else if (make_nic(pci, element)) {
      nics.push_back(std::move(element));
    }
  }
  const auto by_address = [](const Element& a, const Element& b) { return a.bus_id < b.bus_id; };
  std::sort(gpus.begin(), gpus.end(), by_address);
  std::sort(nics.begin(), nics.end(), by_address);
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].name = fmt::format("GPU{}", i);
  hardware.elements.insert(hardware.elements.end(), gpus.begin(), gpus.end());
  hardware.elements.insert(hardware.elements.end(), nics.begin(), nics.end());
}

Hardware read_hardware(hwloc_topology_t topology, const std::string& host) {
  Hardware hardware{{host}, {}};
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, object)) != nullptr)
    hardware.elements.push_back(core_element(topology, object));
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr)
    hardware.elements.push_back(numa_element(object));
  add_pci_devices(topology, hardware);
  return hardware;
}

void add_nvlinks(Hardware& hardware) {
  std::vector<Element*> gpus;
  std::vector<std::string> bus_ids;
  for (Element& element : hardware.elements) {
    if (element.kind != ElementKind::gpu) continue;
    gpus.push_back(&element);
    bus_ids.push_back(element.bus_id);
  }
  const auto links = find_nvlinks(nvml_functions(), bus_ids);
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i]->nvlinks = links[i];
}

}  // namespace

Hardware this_machine() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const TopologyHandle topology = load("this machine", "see lstopo for its reason", [](hwloc_topology_t) { return 0; });
  Hardware hardware = read_hardware(topology.get(), host.data());
  add_nvlinks(hardware);
  return hardware;
}

Hardware machine_from_xml(const std::string& path) {
  const TopologyHandle topology = load(fmt::format("'{}'", path), "name a file that lstopo FILE.xml wrote",
                                       [&](hwloc_topology_t raw) { return hwloc_topology_set_xml(raw, path.c_str()); });
  const std::string host = info_of(hwloc_get_root_obj(topology.get()), "HostName");
  return read_hardware(topology.get(), host.empty() ? path : host);
}

Hardware machine_from_synthetic(const std::string& description) {
  const TopologyHandle topology =
      load(fmt::format("the description '{}'", description), "see hwloc's manual, or lstopo --input",
           [&](hwloc_topology_t raw) { return hwloc_topology_set_synthetic(raw, description.c_str()); });
  return read_hardware(topology.get(), "synthetic");
}

}  // namespace tutti::detail
