// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hash.hpp"
#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The memory that a call reads and writes on this rank. What it reads and then overwrites, in place, counts as
/// written.
struct BufferUses {
  std::vector<Bytes> read;
  std::vector<Bytes> written;

  void add_read(Bytes bytes) { add(read, bytes); }
  void add_read(const void* address, std::size_t bytes) { add_read({static_cast<const std::byte*>(address), bytes}); }
  void add_written(Bytes bytes) { add(written, bytes); }
  void add_written(const void* address, std::size_t bytes) {
    add_written({static_cast<const std::byte*>(address), bytes});
  }

 private:
  static void add(std::vector<Bytes>& to, Bytes bytes) {
    if (!bytes.empty()) to.push_back(bytes);
  }
};

/// Those of a collective on host memory; none on device memory, which streams order.
[[nodiscard]] BufferUses uses_of(const Signature& signature, const Binding& binding, int rank, int size);
/// The data that a collective gives and takes, block by block in the order of ranks, on host memory: in place, too, it
/// reads what it gives and writes no more than its result. Of a bcast only the root gives.
[[nodiscard]] BufferUses data_of(const Signature& signature, const Binding& binding, int rank, int size);

/// A digest by which a change is found: of all bytes, or of the beginning, the end and samples between them.
[[nodiscard]] std::uint64_t fingerprint(Bytes bytes, bool all);

}  // namespace tutti::detail
