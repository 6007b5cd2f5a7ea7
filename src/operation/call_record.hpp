// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "diagnosis/calls.hpp"
#include "diagnosis/site.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

struct Binding;

/// The facts of a call that check mode compares. Plain bytes, equal on all ranks of a correct call.
struct CallFacts {
  std::uint64_t count = 0;
  std::uint64_t unit = 0;       ///< size of an element, in bytes
  std::uint64_t algorithm = 0;  ///< digest of its name; 0: none
  std::uint64_t counts = 0;     ///< digest of the counts that all ranks know
  std::int32_t root = 0;
  flight::Call call = flight::Call::barrier;
  CallKind kind = CallKind::blocking;
  std::uint8_t type = 0;
  ReduceKind op = ReduceKind::sum;
  MemoryClass memory = MemoryClass::host;
  Accumulation accumulation = Accumulation::full;
  bool commutative = true;
  bool reproducible = false;
  bool has_timeout = false;
  bool has_stream = false;
  bool is_refused = false;  ///< the rank ended the call with an error before it gave anything

  friend bool operator==(const CallFacts&, const CallFacts&) = default;
};

/// A call as its rank describes it to the others. The words that match in every call come first.
struct CallRecord {
  std::uint64_t mark = 0;  ///< of the exchange that carries the record
  CallFacts facts{};
  std::array<char, 40> algorithm{};
  SiteRecord site{};
};

/// The bytes that a rank gives to each rank and takes from each, as far as it knows them; empty: it tells none.
struct BlockSizes {
  std::span<const std::uint64_t> given{};
  std::span<const std::uint64_t> taken{};
};

/// The facts of a call on this rank.
[[nodiscard]] CallFacts facts_of(const Signature& signature, const Binding& binding, bool has_stream);
[[nodiscard]] inline CallFacts facts_of(flight::Call call, CallKind kind) {
  CallFacts facts;
  facts.call = call;
  facts.kind = kind;
  return facts;
}

/// Whether the ranks compare sizes of blocks, beyond the facts.
[[nodiscard]] bool has_block_sizes(const CallFacts& facts);
/// Writes the sizes of one rank's blocks: `given` and `taken` have an entry for each rank.
void write_block_sizes(const Signature& signature, const Binding& binding, std::span<std::uint64_t> given,
                       std::span<std::uint64_t> taken);

/// "iallreduce(float32, count 100, sum)".
[[nodiscard]] std::string call_words(const CallRecord& record);
/// "iallreduce(float32, count 100, sum) at heat.c:41 in step()".
[[nodiscard]] inline std::string placed_words(const CallRecord& record) {
  return with_place(call_words(record), words(record.site));
}
/// "rank 2 calls bcast(int32, count 1, root 0) at heat.c:57 in init()".
[[nodiscard]] std::string rank_words(int rank, const CallRecord& record);

/// The first difference in sizes that two ranks of one call state about a block, or in those that all must know: "rank
/// 0 sends rank 1 8 bytes, but that rank expects 12"; empty if there is none. Both records have the same facts.
[[nodiscard]] std::string size_difference(const CallFacts& facts, int a, const BlockSizes& of_a, int b,
                                          const BlockSizes& of_b);

}  // namespace tutti::detail
