// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/prices.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tutti::simulation {
namespace {

using nlohmann::json;

json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("--prices: cannot read {}", path));
  return json::parse(file);
}

Prices prices_in(const std::string& name, const json& entry) {
  Prices p;
  p.name = name;
  p.title = entry.value("title", name);
  p.sockets = entry.at("sockets").get<int>();
  p.caches = entry.at("caches").get<int>();
  p.cores = entry.at("cores").get<int>();
  const json& handover = entry.at("handover");
  for (const Distance distance : {Distance::cache, Distance::socket, Distance::node})
    p.handover[static_cast<std::size_t>(distance)] = handover.at(name_of(distance)).get<double>();
  p.read = entry.value("read", p.read);
  p.further = entry.value("further", p.further);
  p.queue = entry.value("queue", p.queue);
  p.look = entry.value("look", p.look);
  p.call = entry.value("call", p.call);
  p.port = entry.value("port", p.port);
  p.link = entry.value("link", p.link);
  return p;
}

std::string names_in(const json& all) {
  std::string names;
  for (const auto& [name, entry] : all.items()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

const char* name_of(Distance distance) {
  constexpr std::array<const char*, distances> names{"own", "cache", "socket", "node"};
  return names[static_cast<std::size_t>(distance)];
}

Distance Prices::between(int a, int b) const {
  if (a == b) return Distance::own;
  if (cache_of(a) == cache_of(b)) return Distance::cache;
  return socket_of(a) == socket_of(b) ? Distance::socket : Distance::node;
}

std::vector<Place> Prices::places(int ranks) const {
  std::vector<Place> all;
  for (int core = 0; core < ranks; ++core)
    all.push_back({0, core, socket_of(core), cache_of(core), core, 1, socket_of(core)});
  return all;
}

Prices prices_of(const std::string& name_or_file) {
  const bool is_file = name_or_file.find_first_of("./") != std::string::npos;
  try {
    const json all = read_json(is_file ? name_or_file : TUTTI_PRICES);
    if (is_file && all.size() == 1) return prices_in(all.begin().key(), all.begin().value());
    if (!all.contains(name_or_file))
      throw std::runtime_error(fmt::format("--prices: no machine {}: name one of {}, or a file with one machine",
                                           name_or_file, names_in(all)));
    return prices_in(name_or_file, all.at(name_or_file));
  } catch (const json::exception& e) {
    throw std::runtime_error(fmt::format("--prices {}: {}", name_or_file, e.what()));
  }
}

}  // namespace tutti::simulation
