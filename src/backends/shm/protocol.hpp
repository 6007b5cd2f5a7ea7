// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "call/signature.hpp"

namespace tutti::detail::shm {

/// How the ranks of one node hand data to each other.
enum class Protocol : std::uint8_t {
  automatic,    ///< v-forms: whoever publishes chooses, and says so beside its data
  line,         ///< flag and payload in each cache line
  slots,        ///< through slots of the shared segment, in pipelined chunks
  single_copy,  ///< straight from and to the callers' buffers, by process_vm_readv and process_vm_writev
};

/// Payload of one line.
inline constexpr std::size_t line_bytes = 56;

[[nodiscard]] std::string_view protocol_name(Protocol protocol);
/// By name, or false.
[[nodiscard]] bool find_protocol(std::string_view name, Protocol& protocol);

/// Bytes that the rank with most to publish puts before the others in a call; 0 where the signature does not tell.
[[nodiscard]] std::size_t published_bytes(const Signature& signature, int size);

/// Whether a protocol can do a call: a line is short, a single copy needs the kernel's leave, and one that must go on
/// while a rank is away (nonblocking) needs all of its data published at once.
[[nodiscard]] bool can_do(Protocol protocol, const Signature& signature, int size, bool single_copy);

/// Predicted seconds of a call by a protocol, for `size` ranks of one node.
[[nodiscard]] double predict(Protocol protocol, const Signature& signature, int size, bool oversubscribed);

}  // namespace tutti::detail::shm
