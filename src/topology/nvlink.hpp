// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topology/hardware.hpp"

namespace tutti::detail {

/// The needed functions of the NVIDIA management library, as it exports them (nvml.h). The library is optional: it is
/// opened if found. Tests fill the table themselves.
struct NvmlFunctions {
  struct PciInfo {  ///< nvmlPciInfo_t, version 3
    char legacy_bus_id[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    char bus_id[32];
  };
  using Device = void*;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_by_bus_id)(const char* bus_id, Device* device) = nullptr;
  int (*link_state)(Device device, unsigned link, unsigned* is_active) = nullptr;
  int (*link_remote)(Device device, unsigned link, PciInfo* remote) = nullptr;
};

/// The links from each GPU to each other one. A link that ends at none of these GPUs ends at a switch, and reaches
/// every GPU that has such links too. The lists are empty if the library cannot be initialised.
[[nodiscard]] std::vector<std::vector<NvLinks>> find_nvlinks(const NvmlFunctions& nvml,
                                                             const std::vector<std::string>& bus_ids);

/// The table of the machine's library, kept as long as the process lives; null pointers if there is none.
[[nodiscard]] const NvmlFunctions& nvml_functions();

}  // namespace tutti::detail
