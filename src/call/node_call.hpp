// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "operation/binding.hpp"
#include "operation/signature.hpp"
#include "schedules/schedule.hpp"

namespace tutti::detail {

/// An exchange of a schedule as a call of the ranks of a node. Of the whole call the type and, where the exchange
/// combines, the operation are kept; a scaled sum or an average are sums there.
[[nodiscard]] Signature node_signature(const schedules::Exchange& exchange, const Signature& whole);

/// Whether the rank at that place reads its input, or writes its output.
[[nodiscard]] bool uses_input(const schedules::Exchange& exchange, int place);
[[nodiscard]] bool uses_output(const schedules::Exchange& exchange, int place);

/// This rank's part in it. place: among the ranks of the node. unit: bytes of an element. It is in place where the
/// addresses say so.
[[nodiscard]] Binding node_binding(const schedules::Exchange& exchange, int place, const std::byte* input,
                                   std::byte* output, std::size_t unit);

}  // namespace tutti::detail
