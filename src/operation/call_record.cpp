// SPDX-License-Identifier: BSD-3-Clause
#include "operation/call_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/datatype.hpp>

#include "operation/binding.hpp"

namespace tutti::detail {
namespace {

Operation operation_of(const CallFacts& facts) { return static_cast<Operation>(facts.call); }

std::string function_name(const CallFacts& facts) {
  const std::string_view base = flight::call_name(facts.call);
  if (facts.kind == CallKind::nonblocking) return fmt::format("i{}", base);
  return fmt::format("{}{}", base, facts.kind == CallKind::persistent ? "_init" : "");
}

std::string type_name(const CallFacts& facts) {
  const auto kind = static_cast<DatatypeKind>(facts.type);
  return kind == DatatypeKind::bytes ? fmt::format("elements of {} bytes", facts.unit)
                                     : std::string(datatype_name(kind));
}

/// The arguments of an operation as ", a, b, c".
std::string operation_words(const CallFacts& facts) {
  const Operation operation = operation_of(facts);
  std::string text;
  if (operation != Operation::barrier) text += ", " + type_name(facts);
  if (operation != Operation::barrier && !tutti::has_hidden_size(operation))
    text += fmt::format(", {}{}", tutti::has_counts(operation) ? "counts that add up to " : "count ", facts.count);
  if (tutti::combines(operation)) text += fmt::format(", {}", reduce_op_name(facts.op));
  if (!facts.commutative) text += " that does not commute";
  if (tutti::has_root(operation)) text += fmt::format(", root {}", facts.root);
  return text;
}

std::string option_words(const CallRecord& record) {
  const CallFacts& facts = record.facts;
  std::string text;
  if (facts.algorithm != 0) text += fmt::format(", algorithm {}", record.algorithm.data());
  if (facts.reproducible) text += ", reproducible";
  if (facts.accumulation == Accumulation::backend) text += ", accumulation by the backend";
  if (facts.accumulation == Accumulation::exact) text += ", exact accumulation";
  if (facts.has_timeout) text += ", with a timeout";
  if (facts.memory == MemoryClass::device) text += facts.has_stream ? ", device memory on a stream" : ", device memory";
  return text;
}

}  // namespace

CallFacts facts_of(const Signature& s, const Binding& binding, bool has_stream) {
  CallFacts facts;
  facts.count = s.count;
  facts.unit = s.type.size();
  facts.algorithm = s.algorithm.empty() ? 0 : hash(s.algorithm);
  facts.root = s.root;
  facts.call = flight::call_of(s.operation);
  facts.kind = s.kind;
  facts.type = static_cast<std::uint8_t>(s.type.kind());
  facts.op = s.op;
  facts.memory = s.memory;
  facts.accumulation = s.accumulation;
  facts.commutative = s.commutative;
  facts.reproducible = s.reproducible;
  facts.has_timeout = s.has_timeout;
  facts.has_stream = has_stream && s.memory == MemoryClass::device;  // elsewhere it is ignored
  if (tutti::has_shared_counts(s.operation)) {
    Hash counts;
    for (const std::size_t count : binding.recv_counts) counts.add(count);
    facts.counts = counts.value();
  }
  return facts;
}

bool has_block_sizes(const CallFacts& facts) {
  return flight::is_operation(facts.call) && !facts.is_refused && tutti::has_counts(operation_of(facts));
}

void write_block_sizes(const Signature& s, const Binding& binding, std::span<std::uint64_t> given,
                       std::span<std::uint64_t> taken) {
  const std::uint64_t unit = s.type.size();
  const auto root = static_cast<std::size_t>(s.root);
  const auto put = [unit](std::uint64_t count) { return count * unit; };
  std::fill(given.begin(), given.end(), 0);
  std::fill(taken.begin(), taken.end(), 0);
  const auto put_all = [&](std::span<const std::size_t> counts, std::span<std::uint64_t> sizes) {
    std::transform(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(std::min(counts.size(), sizes.size())),
                   sizes.begin(), put);
  };
  put_all(binding.send_counts, given);
  put_all(binding.recv_counts, taken);
  const OperationTraits& row = traits_of(s.operation);
  const auto put_own = [&](std::span<std::uint64_t> sizes, std::size_t count) {
    const bool is_of_root = row.has_root();
    for (std::size_t r = 0; r < sizes.size(); ++r)
      if (!is_of_root || r == root) sizes[r] = put(count);
  };
  if (row.given == BlockKind::own) put_own(given, binding.send_count);
  if (row.taken == BlockKind::own && !row.combines()) put_own(taken, binding.recv_count);
}

std::string call_words(const CallRecord& record) {
  const CallFacts& facts = record.facts;
  if (facts.call == flight::Call::free_communicator) return "free (of the communicator)";
  std::string text =
      (flight::is_operation(facts.call) && !facts.is_refused ? operation_words(facts) : "") + option_words(record);
  if (!text.empty()) text = text.substr(2);
  return fmt::format("{}({})", function_name(facts), text);
}

std::string rank_words(int rank, const CallRecord& record) {
  if (!record.facts.is_refused) return fmt::format("rank {} calls {}", rank, placed_words(record));
  return with_place(fmt::format("rank {} has refused its {} with an error", rank, flight::call_name(record.facts.call)),
                    words(record.site));
}

std::string size_difference(const CallFacts& facts, int a, const BlockSizes& of_a, int b, const BlockSizes& of_b) {
  if (!has_block_sizes(facts) || of_a.given.empty() || of_b.given.empty()) return {};
  const auto at = [](std::span<const std::uint64_t> sizes, int rank) { return sizes[static_cast<std::size_t>(rank)]; };
  if (tutti::has_shared_counts(operation_of(facts))) {
    const auto [mine, theirs] = std::mismatch(of_a.taken.begin(), of_a.taken.end(), of_b.taken.begin());
    if (mine == of_a.taken.end()) return {};
    return fmt::format("rank {} passes {} bytes for block {}, rank {} passes {}", a, *mine, mine - of_a.taken.begin(),
                       b, *theirs);
  }
  const auto unequal = [](int from, std::uint64_t given, int to, std::uint64_t taken) {
    return fmt::format("rank {} sends rank {} {} bytes, but that rank expects {}", from, to, given, taken);
  };
  if (at(of_a.given, b) != at(of_b.taken, a)) return unequal(a, at(of_a.given, b), b, at(of_b.taken, a));
  if (at(of_b.given, a) != at(of_a.taken, b)) return unequal(b, at(of_b.given, a), a, at(of_a.taken, b));
  return {};
}

}  // namespace tutti::detail
