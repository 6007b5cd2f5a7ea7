// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call/binding.hpp"
#include "call/signature.hpp"
#include "core/hash.hpp"

namespace tutti::detail {

/// The memory that a call reads and writes on this rank. What it reads and then overwrites, in place, counts as
/// written.
struct BufferUses {
  std::vector<Bytes> read;
  std::vector<Bytes> written;

  void add_read(const void* address, std::size_t bytes) { add(read, address, bytes); }
  void add_written(const void* address, std::size_t bytes) { add(written, address, bytes); }

 private:
  static void add(std::vector<Bytes>& to, const void* address, std::size_t bytes) {
    if (bytes > 0) to.emplace_back(static_cast<const std::byte*>(address), bytes);
  }
};

/// Those of a collective on host memory; none on device memory, which streams order.
[[nodiscard]] BufferUses uses_of(const Signature& signature, const Binding& binding, int rank, int size);

/// A digest by which a change is found: of all bytes, or of the beginning, the end and samples between them.
[[nodiscard]] std::uint64_t fingerprint(Bytes bytes, bool all);

}  // namespace tutti::detail
