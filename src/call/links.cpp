// SPDX-License-Identifier: BSD-3-Clause
#include "call/links.hpp"

namespace tutti::detail {
namespace {

constexpr auto network = static_cast<std::size_t>(LinkLevel::network);

/// The measured level of a node that stands for another one; `network` if there is none.
std::size_t stand_in(const Links& measured, std::size_t level) {
  for (std::size_t farther = level; farther < network; ++farther)
    if (is_measured(measured.levels[farther])) return farther;
  for (std::size_t nearer = level; nearer-- > 0;)
    if (is_measured(measured.levels[nearer])) return nearer;
  return network;
}

void take_figures(Link& link, const Link& measured) {
  for (const LinkFigure& figure : link_figures) link.*figure.value = measured.*figure.value;
}

}  // namespace

LinkLevel level_between(const Place& a, const Place& b) {
  const auto share = [](int x, int y) { return x >= 0 && x == y; };
  if (a.node != b.node) return LinkLevel::network;
  if (share(a.core, b.core)) return LinkLevel::core;
  if (share(a.l3, b.l3)) return LinkLevel::cache;
  if (share(a.numa, b.numa)) return LinkLevel::numa;
  return share(a.socket, b.socket) ? LinkLevel::socket : LinkLevel::node;
}

Links with_measured(Links links, const Links& measured) {
  for (std::size_t level = 0; level < network; ++level)
    if (const std::size_t found = stand_in(measured, level); found != network)
      take_figures(links.levels[level], measured.levels[found]);
  if (is_measured(measured[LinkLevel::network])) take_figures(links.levels[network], measured[LinkLevel::network]);
  links.fabric = measured.fabric;
  return links;
}

}  // namespace tutti::detail
