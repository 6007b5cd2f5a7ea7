// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/orders.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>

namespace tutti::simulation {
namespace {

/// The difference between the program's addresses and those of its file.
std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = program->dlpi_addr;
        return 1;  // the program comes first
      },
      &bias);
  return bias;
}

}  // namespace

Site site_of(const void* return_address) {
  static const std::uintptr_t bias = load_bias();
  return static_cast<Site>(reinterpret_cast<std::uintptr_t>(return_address) - bias - 1);
}

const std::vector<std::string>& order_names() {
  static const std::vector<std::string> names{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return names;
}

Orders& Orders::instance() {
  static Orders orders;
  return orders;
}

void Orders::weaken(const std::vector<std::string>& sites, const std::string& order) {
  for (const std::string& site : sites) weakened_.push_back(static_cast<Site>(std::stoul(site, nullptr, 16)));
  const auto& names = order_names();
  weaker_ = static_cast<std::memory_order>(std::find(names.begin(), names.end(), order) - names.begin());
}

std::memory_order Orders::use(Site site, const char* operation, std::memory_order order) {
  Use& use = uses_[site];
  use.operation = operation;
  use.order = order;
  ++use.times;
  return std::find(weakened_.begin(), weakened_.end(), site) == weakened_.end() ? order : weaker_;
}

std::string Orders::text() const {
  std::string text;
  for (const auto& [site, use] : uses_)
    text += fmt::format("{:#x}\t{}\t{}\t{}\n", site, use.operation, order_names()[static_cast<std::size_t>(use.order)],
                        use.times);
  return text;
}

}  // namespace tutti::simulation
