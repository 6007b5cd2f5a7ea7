// SPDX-License-Identifier: BSD-3-Clause
#include "core/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <locale>
#include <system_error>
#include <vector>

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;
using Family = Network::Family;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
    paths.push_back(it->path());
  return paths;
}

/// The number at the start of a file; 0 if there is none.
int number_in(const fs::path& file) {
  std::ifstream in(file);
  in.imbue(std::locale::classic());  // the program's may have another point
  double number = 0;
  return in >> number && number > 0 && number < 1e6 ? static_cast<int>(number) : 0;
}

void offer(Network& best, Family family, int gigabits) {
  if (gigabits > 0 && (best.family == Family::unknown || gigabits > best.gigabits)) best = {family, gigabits};
}

/// Ports whose `rate` is a text such as "100 Gb/sec (4X EDR)".
Network find_fabric(const fs::path& classes) {
  Network best;
  for (const fs::path& device : entries_of(classes / "infiniband")) {
    const bool is_omni_path = device.filename().string().rfind("hfi1", 0) == 0;
    for (const fs::path& port : entries_of(device / "ports"))
      offer(best, is_omni_path ? Family::omni_path : Family::infiniband, number_in(port / "rate"));
  }
  return best;
}

/// Interfaces whose `speed` is in megabits; those of Slingshot are named hsn0, hsn1.
Network find_interfaces(const fs::path& classes) {
  Network slingshot;
  Network ethernet;
  for (const fs::path& interface : entries_of(classes / "net")) {
    const std::string name = interface.filename().string();
    if (name == "lo") continue;
    const int gigabits = number_in(interface / "speed") / 1000;
    if (name.rfind("hsn", 0) == 0)
      offer(slingshot, Family::slingshot, gigabits);
    else
      offer(ethernet, Family::ethernet, gigabits);
  }
  return slingshot.family != Family::unknown ? slingshot : ethernet;
}

}  // namespace

Network find_network(const fs::path& classes) {
  const Network fabric = find_fabric(classes);
  return fabric.family != Family::unknown ? fabric : find_interfaces(classes);
}

Network slower(const Network& a, const Network& b) {
  if (a.family == Family::unknown || b.family == Family::unknown) return {};
  if (a.family != b.family) return a.family > b.family ? a : b;
  return a.gigabits <= b.gigabits ? a : b;
}

std::string text_of(const Network& network) {
  if (network.family == Family::unknown) return "an unknown network, taken for one of 100 Gb/s";
  constexpr const char* names[] = {"", "InfiniBand", "Omni-Path", "Slingshot", "Ethernet"};
  return fmt::format("{}, {} Gb/s", names[static_cast<int>(network.family)], network.gigabits);
}

NetworkFigures figures_of(const Network& network) {
  const double bytes = (network.gigabits > 0 ? network.gigabits : 100) * 1e9 / 8;
  // Ethernet goes through the kernel; the others do not.
  if (network.family == Family::ethernet) return {15e-6, 3e-6, 0.6 * bytes, 0.8 * bytes};
  const double latency = network.family == Family::slingshot ? 1.8e-6
                         : network.family == Family::unknown ? 2.2e-6
                                                             : 1.3e-6;
  return {latency, 0.4e-6, 0.64 * bytes, 0.88 * bytes};
}

}  // namespace tutti::detail
