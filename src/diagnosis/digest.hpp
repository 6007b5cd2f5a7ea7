// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hash.hpp"

namespace tutti::detail::flight {

/// The checksum of the data of one side of a call on one rank, and of their first 1/16, 2/16, ... 15/16, by which two
/// calls tell the sixteenth in which they first differ.
struct Digest {
  static constexpr std::size_t pieces = 16;

  std::uint64_t checksum = 0;  ///< of none: 0
  std::uint64_t bytes = 0;
  std::array<std::uint32_t, pieces - 1> beginnings{};  ///< the low halves of their checksums

  friend bool operator==(const Digest& a, const Digest& b) { return a.checksum == b.checksum && a.bytes == b.bytes; }
};

/// The digest of blocks one after the other: the same for all cuts of the same bytes.
[[nodiscard]] Digest digest_of(std::span<const Bytes> blocks) noexcept;

/// From a byte on, up to another.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// The piece that has the first byte in which two data of one length differ; nothing if they are equal.
[[nodiscard]] std::optional<Extent> first_difference(const Digest& a, const Digest& b) noexcept;

/// A collective with the checksums of its data on one rank.
struct Summed {
  std::uint64_t communicator = 0;  ///< its mark
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::uint32_t run = 0;      ///< it is the n-th start of a persistent call, from 1; of others 1
  std::uint64_t history = 0;  ///< of what the calls before it on the communicator have given on this rank
  Digest given{};
  Digest taken{};

  /// Becomes the call after this one.
  void follow(const Digest& next, std::uint32_t next_run) noexcept;
};

}  // namespace tutti::detail::flight
