// SPDX-License-Identifier: BSD-3-Clause
#include "topology/network_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// A regular file of at most some megabytes; nothing if there is none.
std::optional<std::string> text_of(const fs::path& path) {
  constexpr std::uintmax_t longest = std::uintmax_t{8} << 20U;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || error) return std::nullopt;
  // Files of /proc have no size.
  if (fs::file_size(path, error) > longest || error) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string first_word_of(const fs::path& path) {
  const std::string text = text_of(path).value_or("");
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// The names by which Slurm may know this node.
std::vector<std::string> node_names() {
  const std::string host = host_name();
  std::vector<std::string> names{environment("SLURMD_NODENAME"), host, host.substr(0, host.find('.'))};
  std::erase(names, "");
  return names;
}

NetworkPath path_in(std::string_view text, const fs::path& file) {
  std::string problem;
  for (const std::string& name : node_names()) {
    NetworkPath path = path_in_slurm_file(text, name);
    if (path.problem.empty()) return path;
    if (problem.empty()) problem = fmt::format("{}: {}", file.string(), path.problem);
  }
  return {{}, problem};
}

NetworkPath given_path(const fs::path& file) {
  if (file.empty()) return {};
  const auto text = text_of(file);
  if (!text) return {{}, fmt::format("{}: it cannot be read", file.string())};
  return path_in(*text, file);
}

/// Beside slurm.conf, wherever that is.
NetworkPath slurm_path(const fs::path& root) {
  const fs::path conf = environment("SLURM_CONF");
  const fs::path folder = conf.empty() ? root / "etc/slurm" : conf.parent_path();
  std::error_code error;
  const auto text = text_of(folder / "topology.conf");
  if (!text) return {};
  if (fs::exists(folder / "topology.yaml", error))
    return {{}, fmt::format("{}: Slurm reads the topology.yaml beside it", (folder / "topology.conf").string())};
  return path_in(*text, folder / "topology.conf");
}

NetworkPath xname_path(const fs::path& root) {
  for (const std::string& name :
       {first_word_of(root / "etc/cray/xname"), first_word_of(root / "proc/cray_xt/cname"), host_name()})
    if (NetworkPath path = path_of_xname(name); !path.groups.empty()) return path;
  return {};
}

}  // namespace

NetworkPaths network_paths(const fs::path& root) {
  const char* given = std::getenv("TUTTI_NETWORK");
  const std::string file = given == nullptr ? "" : given;
  if (file == "off") return {};
  return {given_path(file),
          path_of_address(environment("SLURM_TOPOLOGY_ADDR"), environment("SLURM_TOPOLOGY_ADDR_PATTERN")),
          slurm_path(root), xname_path(root)};
}

}  // namespace tutti::detail
