// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nvlink.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace tutti::detail;

/// The bus of the other end of each link of each device, or -1 for a link that is down.
std::vector<std::vector<int>> wiring;
int initialised = 0;

std::size_t device_number(NvmlFunctions::Device device) { return reinterpret_cast<std::size_t>(device) - 1; }

/// A library whose device of bus n has number n.
NvmlFunctions fake() {
  NvmlFunctions nvml;
  nvml.init = [] { return (++initialised, 0); };
  nvml.shutdown = [] { return (--initialised, 0); };
  nvml.device_by_bus_id = [](const char* bus_id, NvmlFunctions::Device* device) {
    unsigned bus = 0;
    if (std::sscanf(bus_id, "0000:%x:00.0", &bus) != 1 || bus >= wiring.size()) return 6;
    *device = reinterpret_cast<NvmlFunctions::Device>(std::size_t{bus} + 1);
    return 0;
  };
  nvml.link_state = [](NvmlFunctions::Device device, unsigned link, unsigned* is_active) {
    const auto& links = wiring[device_number(device)];
    if (link >= links.size()) return 2;
    *is_active = links[link] >= 0 ? 1 : 0;
    return 0;
  };
  nvml.link_remote = [](NvmlFunctions::Device device, unsigned link, NvmlFunctions::PciInfo* remote) {
    remote->bus = static_cast<unsigned>(wiring[device_number(device)][link]);
    return 0;
  };
  return nvml;
}

std::string bus_id(int bus) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(bus));
  return text;
}

int count(const std::vector<NvLinks>& links, int bus) {
  for (const NvLinks& entry : links)
    if (entry.bus_id == bus_id(bus)) return entry.count;
  return 0;
}

TEST(NvLink, DirectLinksAreCountedByPeer) {
  wiring = {{1, 1, 2, -1}, {0, 0, -1}, {0}};
  const auto links = find_nvlinks(fake(), {bus_id(0), bus_id(1), bus_id(2)});
  EXPECT_EQ(count(links[0], 1), 2);
  EXPECT_EQ(count(links[0], 2), 1);
  EXPECT_EQ(count(links[1], 0), 2);
  EXPECT_EQ(count(links[1], 2), 0);
  EXPECT_EQ(initialised, 0);
}

TEST(NvLink, LinksToSwitchesReachEveryGpuThere) {
  wiring = {std::vector<int>(18, 0x60), std::vector<int>(18, 0x61), {}};
  const auto links = find_nvlinks(fake(), {bus_id(0), bus_id(1), bus_id(2)});
  EXPECT_EQ(count(links[0], 1), 18);
  EXPECT_EQ(count(links[1], 0), 18);
  EXPECT_EQ(count(links[0], 2), 0) << "a GPU without links";
}

TEST(NvLink, AnAbsentOrFailingLibraryGivesNone) {
  wiring = {{1}, {0}};
  EXPECT_TRUE(find_nvlinks(NvmlFunctions{}, {bus_id(0), bus_id(1)})[0].empty());
  NvmlFunctions failing = fake();
  failing.init = [] { return 9; };
  EXPECT_TRUE(find_nvlinks(failing, {bus_id(0), bus_id(1)})[0].empty());
}

}  // namespace
