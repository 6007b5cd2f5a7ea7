// SPDX-License-Identifier: BSD-3-Clause
#include "call/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/config.hpp"

namespace tutti::detail {
namespace {

/// The largest size of a class: 64 B, then 4 times as much for each next class.
std::uint64_t class_of(std::uint64_t bytes) {
  std::uint64_t most = 64;
  while (most < bytes && most < std::uint64_t{1} << 62U) most *= 4;
  return bytes == 0 ? 0 : most;
}

std::string size_text(std::uint64_t most) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; most >= 1024; most /= 1024) ++unit;
  return fmt::format("{} {}", most, units[unit]);
}

const char* kind_text(CallKind kind) {
  return kind == CallKind::blocking ? "blocking" : kind == CallKind::nonblocking ? "nonblocking" : "persistent";
}

std::uint64_t sum(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

Summary* Summary::if_wanted() {
  if (!config().summary) return nullptr;
  // Never destroyed, because MPI may be finalized after the statics of this file.
  static auto* instance = new Summary;
  return instance;
}

Tally& Summary::tally_of(std::string_view operation, CallKind kind, const std::string& way, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return tallies_[Key{operation, kind, class_of(bytes), way}];
}

std::string Summary::text() const {
  const std::lock_guard lock(mutex_);
  if (tallies_.empty()) return {};
  std::vector<std::pair<const Key*, const Tally*>> rows;
  for (const auto& [key, tally] : tallies_) rows.emplace_back(&key, &tally);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->nanoseconds > b.second->nanoseconds; });
  std::string table = fmt::format("{:<21}{:<12}{:>8}  {:<30}{:>10}{:>18}{:>14}{:>12}\n", "operation", "call", "up to",
                                  "way", "calls", "bytes", "seconds", "us a call");
  for (const auto& [key, tally] : rows) {
    const auto& [operation, kind, most, way] = *key;
    const double seconds = static_cast<double>(tally->nanoseconds.load()) * 1e-9;
    const auto calls = tally->calls.load();
    table += fmt::format("{:<21}{:<12}{:>8}  {:<30}{:>10}{:>18}{:>14.6f}{:>12.2f}\n", operation, kind_text(kind),
                         size_text(most), way, calls, tally->bytes.load(), seconds,
                         seconds * 1e6 / static_cast<double>(std::max<std::uint64_t>(calls, 1)));
  }
  return table;
}

std::uint64_t bytes_of(const Signature& signature, const Binding& binding) {
  const std::uint64_t given = std::max<std::uint64_t>(binding.send_count, sum(binding.send_counts));
  const std::uint64_t taken = std::max<std::uint64_t>(binding.recv_count, sum(binding.recv_counts));
  return std::max({given, taken, std::uint64_t{signature.count}}) * signature.type.size();
}

}  // namespace tutti::detail
