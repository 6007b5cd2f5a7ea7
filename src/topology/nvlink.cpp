// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nvlink.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::detail {
namespace {

constexpr unsigned most_links = 18;  // NVML_NVLINK_MAX_LINKS

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

/// "0000:17:00.0" from any spelling: the management library writes domains with eight digits.
std::string bus_id_of(const NvmlFunctions::PciInfo& info) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
}

struct Ends {
  std::map<std::string, int> gpus{};  ///< number of links to each other GPU
  int switches = 0;                   ///< number of links that end elsewhere
};

Ends ends_of(const NvmlFunctions& nvml, const std::string& bus_id, const std::vector<std::string>& gpus) {
  Ends ends;
  NvmlFunctions::Device device = nullptr;
  if (nvml.device_by_bus_id(bus_id.c_str(), &device) != 0) return ends;
  for (unsigned link = 0; link < most_links; ++link) {
    unsigned is_active = 0;
    NvmlFunctions::PciInfo remote{};
    if (nvml.link_state(device, link, &is_active) != 0 || is_active == 0) continue;
    if (nvml.link_remote(device, link, &remote) != 0) continue;
    const std::string other = bus_id_of(remote);
    if (std::find(gpus.begin(), gpus.end(), other) != gpus.end())
      ++ends.gpus[other];
    else
      ++ends.switches;
  }
  return ends;
}

}  // namespace

std::vector<std::vector<NvLinks>> find_nvlinks(const NvmlFunctions& nvml, const std::vector<std::string>& bus_ids) {
  std::vector<std::vector<NvLinks>> links(bus_ids.size());
  if (bus_ids.empty() || nvml.init == nullptr || nvml.init() != 0) return links;
  std::vector<Ends> ends;
  for (const std::string& bus_id : bus_ids) ends.push_back(ends_of(nvml, bus_id, bus_ids));
  nvml.shutdown();
  for (std::size_t a = 0; a < bus_ids.size(); ++a)
    for (std::size_t b = 0; b < bus_ids.size(); ++b) {
      if (a == b) continue;
      const auto direct = ends[a].gpus.find(bus_ids[b]);
      const int count =
          (direct == ends[a].gpus.end() ? 0 : direct->second) + std::min(ends[a].switches, ends[b].switches);
      if (count > 0) links[a].push_back({bus_ids[b], count});
    }
  return links;
}

const NvmlFunctions& nvml_functions() {
  static const NvmlFunctions functions = [] {
    NvmlFunctions found;
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    look_up(library, "nvmlInit_v2", found.init);
    look_up(library, "nvmlShutdown", found.shutdown);
    look_up(library, "nvmlDeviceGetHandleByPciBusId_v2", found.device_by_bus_id);
    look_up(library, "nvmlDeviceGetNvLinkState", found.link_state);
    look_up(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", found.link_remote);
    const bool is_whole = found.init != nullptr && found.shutdown != nullptr && found.device_by_bus_id != nullptr &&
                          found.link_state != nullptr && found.link_remote != nullptr;
    return is_whole ? found : NvmlFunctions{};
  }();
  return functions;
}

}  // namespace tutti::detail
