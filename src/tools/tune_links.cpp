// SPDX-License-Identifier: BSD-3-Clause
#include "tools/tune_links.hpp"

#include <fmt/format.h>

#include "call/context.hpp"
#include "tools/link_measurement.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

std::string gigabytes(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

std::string shared_text(double rate) { return rate > 0 ? gigabytes(rate) : "as its nodes"; }

std::string groups_text(const detail::Fabric& fabric) {
  if (!is_measured_by_group(fabric)) return "";
  detail::TextRows rows = {{"groups apart", "latency us", "two groups GB/s", "a group to all GB/s"}};
  for (std::size_t apart = 0; apart < fabric.by_group.size(); ++apart) {
    const detail::Fabric::Group& group = fabric.by_group[apart];
    if (group.latency == 0) continue;
    const bool is_within = apart == 0;
    rows.push_back({is_within ? "none" : fmt::format("{} level{}", apart, apart == 1 ? "" : "s"),
                    fmt::format("{:.2f}", group.latency * 1e6), is_within ? "" : shared_text(group.between),
                    is_within ? "" : shared_text(group.leaving)});
  }
  return detail::in_columns(rows);
}

}  // namespace

std::string links_text(std::span<const LinkMeasurement> measured) {
  detail::TextRows rows = {{"level", "latency us", "overhead us", "long latency us", "eager KiB", "one message GB/s",
                            "passed on GB/s", "one rank GB/s", "one way GB/s", "a node GB/s"}};
  std::string loads;
  for (const LinkMeasurement& one : measured) {
    const auto name = detail::link_level_names[static_cast<std::size_t>(one.level)];
    rows.push_back({std::string(name), fmt::format("{:.2f}", one.link.latency * 1e6),
                    fmt::format("{:.2f}", one.link.overhead * 1e6), fmt::format("{:.2f}", one.link.long_latency * 1e6),
                    fmt::format("{:g}", one.link.eager / 1024), gigabytes(one.link.rate),
                    gigabytes(passing_rate_of(one.link)), gigabytes(one.link.several_rate),
                    gigabytes(several_rate_of(one.link, false)), gigabytes(one.link.shared_rate)});
    loads += fmt::format("{}, GB/s of each rank by pairs at once:", name);
    for (const LinkMeasurement::Load& load : one.loads)
      loads += fmt::format(" {}: {}", load.pairs, gigabytes(load.rate));
    loads += "\n";
  }
  return detail::in_columns(rows) + loads;
}

std::string fabric_text(const detail::Fabric& fabric) {
  const std::size_t distances = detail::distances_of(fabric);
  if (distances == 0) return "";
  detail::TextRows rows = {{"nodes apart", "latency us", "all nodes, each GB/s"}};
  for (std::size_t digit = 0; digit < distances; ++digit)
    rows.push_back({std::to_string(1UL << digit), fmt::format("{:.2f}", fabric.at[digit].latency * 1e6),
                    gigabytes(fabric.at[digit].rate)});
  rows.push_back({"all", "", gigabytes(fabric.everywhere)});
  return detail::in_columns(rows) + groups_text(fabric);
}

std::string tune_links(const Communicator& comm, TableFile& file) {
  const std::vector<LinkMeasurement> measured = measure_links(comm.state()->point_to_point, comm.topology().places);
  detail::Links links = links_of(measured);
  links.fabric = measure_fabric(comm.state()->point_to_point, comm.topology().places);
  measure_groups(comm.state()->point_to_point, comm.topology().places, comm.topology().network_groups, links.fabric);
  file.put(links);
  return links_text(measured) + fabric_text(links.fabric);
}

}  // namespace tutti::tools
