// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::detail {
extern struct Backend shm_backend;
}

namespace tutti::detail::shm {

/// The ways in which ranks of one node pass data to each other.
enum class Protocol : std::uint8_t {
  automatic,    ///< v-forms: the publishing rank chooses, and records the choice beside its data
  line,         ///< each cache line has a flag and payload
  slots,        ///< through slots of the shared segment, in pipelined chunks
  single_copy,  ///< directly between the callers' buffers, by process_vm_readv and process_vm_writev
  parts,        ///< through near rings, window by window, of which every rank combines its part
  tree,         ///< lines that pass along groups of ranks that share caches, up to a leader and down again
  stream,       ///< as `slots`, through the ranks' near rings
  wide,         ///< the same through rings that are longer than a core's caches
  uncached,     ///< as `stream`, but givers write past the caches
};

/// Returns true for the protocols that pass through one of the long rings.
[[nodiscard]] constexpr bool is_streamed(Protocol protocol) {
  return protocol == Protocol::stream || protocol == Protocol::wide || protocol == Protocol::uncached;
}

/// The payload of one line, in bytes.
inline constexpr std::size_t line_bytes = 56;

[[nodiscard]] std::string_view protocol_name(Protocol protocol);

}  // namespace tutti::detail::shm
