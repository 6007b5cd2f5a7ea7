// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tutti/communicator.hpp>
#include <tutti/sharding_plan.hpp>

namespace tutti::detail {

/// A hash of what ranks must pass alike. FNV-1a over 64-bit words.
class Fingerprint {
 public:
  Fingerprint& add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 29;
    return *this;
  }
  Fingerprint& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
  Fingerprint& add(std::string_view text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    return add(std::uint64_t{text.size()});
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

inline void add_tables(Fingerprint& print, std::span<const EmbeddingTableConfig> tables) {
  print.add(std::uint64_t{tables.size()});
  for (const auto& table : tables) {
    print.add(std::string_view(table.name)).add(static_cast<std::uint64_t>(table.rows)).add(std::uint64_t{table.dim});
    print.add(static_cast<std::uint64_t>(table.type)).add(static_cast<std::uint64_t>(table.pooling));
    print.add(table.mean_lookups).add(static_cast<std::uint64_t>(table.sharding));
  }
}

/// Throws Error(mismatch) on all ranks where `fingerprint` differs between any two. Collective; blocking.
void check_alike(const Communicator& comm, std::uint64_t fingerprint, const std::string& what);

}  // namespace tutti::detail
