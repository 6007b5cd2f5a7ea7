// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

#include "planner/names.hpp"
#include "tools/question.hpp"

namespace tutti::tools {

/// Measurements of a file with a line for each level, its name and the figures of link_figures, and, if it was
/// measured, one of the fabric: the number of distances, latency and rate at each, and the rate at all. A line of local
/// work has the seconds a byte of combining and of copying.
class GivenLinks final : public detail::Measurements {
 public:
  explicit GivenLinks(const char* path) {
    std::ifstream in(path);
    for (std::string name; in >> name;) {
      if (name == "fabric") {
        read_fabric(in);
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
  [[nodiscard]] double combine() const { return combine_; }
  [[nodiscard]] double copy() const { return copy_; }

 private:
  void read_fabric(std::istream& in) {
    std::size_t distances = 0;
    in >> distances;
    for (std::size_t i = 0; i < distances; ++i) in >> links_.fabric.at.at(i).latency >> links_.fabric.at.at(i).rate;
    if (!(in >> links_.fabric.everywhere)) throw std::runtime_error("a rate of the fabric is missing");
  }

  detail::Links links_{};
  // On a simulated machine local work costs nothing.
  double combine_ = 1e-18;
  double copy_ = 1e-18;
};

}  // namespace tutti::tools
