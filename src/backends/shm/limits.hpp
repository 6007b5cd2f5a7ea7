// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "operation/signature.hpp"

/// The calls that each protocol can make, from shared facts alone.
namespace tutti::detail::shm {

/// The size of the data that the rank with most data publishes in a call, in bytes; 0 if the signature does not
/// determine it.
[[nodiscard]] std::size_t published_bytes(const Signature& signature, int size);

/// A call that goes on alone progresses while a rank is away, so all data are published at its start.
[[nodiscard]] bool fits_lines(const Signature& signature, int size);
[[nodiscard]] bool fits_slots(const Signature& signature, int size, bool goes_on_alone);
[[nodiscard]] bool fits_parts(const Signature& signature, int size);
[[nodiscard]] bool fits_tree(const Signature& signature, bool goes_on_alone);
[[nodiscard]] bool fits_ring(const Signature& signature, int size);
/// Returns true if a near ring holds all that a rank gives.
[[nodiscard]] bool is_held_by_ring(const Signature& signature, int size);

}  // namespace tutti::detail::shm
