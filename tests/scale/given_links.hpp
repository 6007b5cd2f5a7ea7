// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

#include "call/network_groups.hpp"
#include "planner/names.hpp"
#include "tools/question.hpp"

namespace tutti::tools {

/// Measurements of a file with a line for each level, its name and the figures of link_figures, and, if it was
/// measured, one of the fabric: the number of distances, latency and rate at each, and the rate at all, and one of its
/// groups as tutti_scale prints it. A line of the order has the numbers of levels and of nodes, and for each level the
/// group of each node. A line of local work has the seconds a byte of combining and of copying.
class GivenLinks final : public detail::Measurements {
 public:
  explicit GivenLinks(const char* path) {
    std::ifstream in(path);
    for (std::string name; in >> name;) {
      if (name == "fabric") {
        read_fabric(in);
        continue;
      }
      if (name == "groups") {
        read_groups(in);
        continue;
      }
      if (name == "order") {
        read_order(in);
        continue;
      }
      if (name == "local") {
        if (!(in >> combine_ >> copy_)) throw std::runtime_error("a figure of local work is missing");
        continue;
      }
      const auto found = std::find(detail::link_level_names.begin(), detail::link_level_names.end(), name);
      if (found == detail::link_level_names.end()) throw std::runtime_error("there is no level " + name);
      detail::Link& link = links_.levels[static_cast<std::size_t>(found - detail::link_level_names.begin())];
      for (const detail::LinkFigure& figure : detail::link_figures)
        if (!(in >> link.*figure.value)) throw std::runtime_error("a figure of level " + name + " is missing");
    }
  }
  [[nodiscard]] std::optional<double> seconds(const detail::Signature&, std::string_view) const override {
    return std::nullopt;
  }
  [[nodiscard]] const detail::Links* links() const override { return &links_; }
  /// The groups of the nodes; empty: unknown.
  [[nodiscard]] const detail::NetworkLevels& order() const { return order_; }
  [[nodiscard]] double combine() const { return combine_; }
  [[nodiscard]] double copy() const { return copy_; }

 private:
  void read_fabric(std::istream& in) {
    std::size_t distances = 0;
    in >> distances;
    for (std::size_t i = 0; i < distances; ++i) in >> links_.fabric.at.at(i).latency >> links_.fabric.at.at(i).rate;
    if (!(in >> links_.fabric.everywhere)) throw std::runtime_error("a rate of the fabric is missing");
  }

  void read_groups(std::istream& in) {
    std::size_t groups = 0;
    in >> groups;
    for (std::size_t i = 0; i < groups; ++i) {
      detail::Fabric::Group& group = links_.fabric.by_group.at(i);
      in >> group.latency >> group.between >> group.leaving;
    }
    if (!(in >> links_.fabric.within_group)) throw std::runtime_error("a figure of groups is missing");
  }
  void read_order(std::istream& in) {
    std::size_t levels = 0;
    std::size_t nodes = 0;
    in >> levels >> nodes;
    order_.assign(levels, std::vector<int>(nodes));
    for (std::vector<int>& level : order_)
      for (int& group : level) in >> group;
    if (!in) throw std::runtime_error("a number of the order is missing");
  }

  detail::Links links_{};
  detail::NetworkLevels order_{};
  // On a simulated machine local work costs nothing.
  double combine_ = 1e-18;
  double copy_ = 1e-18;
};

}  // namespace tutti::tools
