// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::simulation {

/// The place of an access in the program: its address there, by which addr2line finds the line.
using Site = std::uint32_t;
[[nodiscard]] Site site_of(const void* return_address);

/// The orders of all atomic accesses, each of which can be weakened.
class Orders {
 public:
  [[nodiscard]] static Orders& instance();

  /// Gives the accesses of some sites another order.
  void weaken(const std::vector<std::string>& sites, const std::string& order);
  /// The order that an access has.
  [[nodiscard]] std::memory_order use(Site site, const char* operation, std::memory_order order);
  /// A line for each access that a rank has made: its site, operation, order and times.
  [[nodiscard]] std::string text() const;

 private:
  struct Use {
    const char* operation = "";
    std::memory_order order{};
    std::uint64_t times = 0;
  };
  std::map<Site, Use> uses_;
  std::vector<Site> weakened_;
  std::memory_order weaker_ = std::memory_order_relaxed;
};

/// The names of orders.
[[nodiscard]] const std::vector<std::string>& order_names();

}  // namespace tutti::simulation
