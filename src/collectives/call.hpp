// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

#include "call/context.hpp"
#include "collectives/packing.hpp"
#include "diagnosis/recorder.hpp"
#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// A checked call: its signature and this rank's binding.
struct CheckedCall {
  Signature signature{};
  Binding binding{};
  std::unique_ptr<Packing> packing{};  ///< null: the call uses the caller's buffers
  bool is_detected = false;            ///< a buffer's kind of memory was not declared
};

class Repeatable;

/// The three ways to make a call. Keep one that may be repeated, as its caller has `made` it.
void run(const Communicator& comm, CheckedCall&& call, const Options& options, const Repeatable* made = nullptr);
[[nodiscard]] Request start(const Communicator& comm, CheckedCall&& call, const Options& options,
                            const Repeatable* made = nullptr);
[[nodiscard]] Request prepare(const Communicator& comm, CheckedCall&& call, const Options& options);

/// Returns true if a datatype is one of the library's; a caller may have cast any number to a kind.
[[nodiscard]] inline bool is_datatype(Datatype type) {
  return type.size() > 0 && type.kind() >= DatatypeKind::int8 && type.kind() <= DatatypeKind::bytes;
}

/// Returns true if calls on memory of that kind, declared or detected, are calls on device memory.
[[nodiscard]] inline bool is_of_device(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::managed;
}
/// The same for a buffer: its own kind counts, else that of the call, else that of the address.
[[nodiscard]] inline bool is_of_device(MemoryKind own, MemoryKind of_call, const void* address) {
  const MemoryKind declared = own != MemoryKind::detect ? own : of_call;
  return is_of_device(declared != MemoryKind::detect ? declared : memory_kind(address));
}

/// Returns true if so many elements fit into the address space. A product, because a division takes longer than all
/// other checks together.
[[nodiscard]] inline bool fits_address_space(std::size_t count, Datatype type) {
  std::ptrdiff_t bytes = 0;
  return !__builtin_mul_overflow(count, type.size(), &bytes);
}

/// Whether a call is also written to a trace.
[[nodiscard]] inline bool is_traced(const flight::Note& note) noexcept {
  return note.recorder != nullptr && note.recorder->log() != nullptr;
}
/// Writes the counts of a traced call, if it has any.
void trace_blocks(const flight::Note& note, const Signature& signature, const Binding& binding, int size) noexcept;

/// Throws if the timeout is negative or the stream cannot be used.
[[nodiscard]] CallOptions call_options(const Context& comm, const Options& options);

}  // namespace tutti::detail
