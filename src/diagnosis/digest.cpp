// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/digest.hpp"

#include <algorithm>

#include "core/checksum.hpp"

namespace tutti::detail::flight {
namespace {

std::uint64_t begin_of_piece(std::uint64_t bytes, std::size_t piece) {
  return bytes / Digest::pieces * piece + bytes % Digest::pieces * piece / Digest::pieces;
}

}  // namespace

Digest digest_of(std::span<const Bytes> blocks) noexcept {
  Digest digest;
  for (const Bytes& block : blocks) digest.bytes += block.size();
  Checksum sum;
  std::uint64_t at = 0;
  std::size_t piece = 1;
  for (Bytes rest : blocks)
    while (!rest.empty()) {
      for (; begin_of_piece(digest.bytes, piece) == at; ++piece)
        digest.beginnings[piece - 1] = static_cast<std::uint32_t>(sum.value());
      const std::size_t next = std::min<std::size_t>(rest.size(), begin_of_piece(digest.bytes, piece) - at);
      sum.add(rest.first(next));
      rest = rest.subspan(next);
      at += next;
    }
  digest.checksum = sum.value();
  return digest;
}

std::optional<Extent> first_difference(const Digest& a, const Digest& b) noexcept {
  if (a == b) return std::nullopt;
  const auto differs = std::mismatch(a.beginnings.begin(), a.beginnings.end(), b.beginnings.begin()).first;
  const auto piece = static_cast<std::size_t>(differs - a.beginnings.begin());
  return Extent{begin_of_piece(a.bytes, piece), begin_of_piece(a.bytes, piece + 1)};
}

void Summed::follow(const Digest& next, std::uint32_t next_run) noexcept {
  if (run > 0) history = mix_bits(history ^ given.checksum);
  run = next_run;
  given = next;
  taken = {};
}

}  // namespace tutti::detail::flight
