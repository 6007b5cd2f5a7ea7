// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/datatype.hpp>

#include "core/arithmetic.hpp"
#include "diagnosis/differences.hpp"
#include "diagnosis/findings.hpp"
#include "diagnosis/site_text.hpp"

namespace tutti::detail::flight {
namespace {

std::string words_of_call(const Snapshot& snapshot, SeenCall call) {
  if (!call.site.empty()) call.site = detail::words_of(call.site);
  return call_text(snapshot, call);
}

/// "rank 2", "ranks 0, 1 and 3", or the first of many.
std::string words_of_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t most = 8;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  if (ranks.size() > most) return fmt::format("{} ranks, from {} to {},", ranks.size(), ranks.front(), ranks.back());
  return fmt::format("ranks {} and {}", fmt::join(ranks.begin(), ranks.end() - 1, ", "), ranks.back());
}

const char* ending(const std::vector<int>& ranks) { return ranks.size() == 1 ? "s" : ""; }

/// The element that differs first, as far as it is known.
std::string words_of_extent(const Parting& parting) {
  const auto [begin, end] = elements_of(parting);
  if (begin == end) return {};
  const char* unit = has_elements(parting) ? "element" : "byte";
  if (end == begin + 1) return fmt::format(", {} {} first", unit, begin);
  return fmt::format(", first one of the {}s {} to {}", unit, begin, end - 1);
}

std::string words_of_sizes(const Digest& one, const Digest& other) {
  return one.bytes == other.bytes ? "" : fmt::format(" ({} B, and {} B in the other run)", one.bytes, other.bytes);
}

std::string words_of_ways(const Parting& parting) {
  if (parting.call.way == parting.other.way) return {};
  return fmt::format("; by {}, and by {} in the other run", parting.call.way, parting.other.way);
}

std::string given_text(const Parting& parting, const std::string& where) {
  const std::string what =
      words_of_extent(parting) + words_of_sizes(parting.call.sums->given, parting.other.sums->given);
  if (parting.ranks.empty()) return fmt::format("{}: the ranks together give other data{}", where, what);
  const std::string others =
      parting.equal_ranks.empty()
          ? "no rank gives the same"
          : fmt::format("{} give{} the same", words_of_ranks(parting.equal_ranks), ending(parting.equal_ranks));
  return fmt::format("{}: {} give{} other data{}; {}", where, words_of_ranks(parting.ranks), ending(parting.ranks),
                     what, others);
}

std::string taken_text(const Parting& parting, const std::string& where) {
  const std::string what = words_of_extent(parting) + words_of_ways(parting);
  if (parting.ranks.empty()) return fmt::format("{}: the result is another one{}", where, what);
  return fmt::format("{}: all ranks give the same data, but {} get{} another result{}", where,
                     words_of_ranks(parting.ranks), ending(parting.ranks), what);
}

}  // namespace

std::string_view parting_name(PartingKind kind) {
  constexpr std::array<std::string_view, 6> names = {"unequal", "before", "call", "given", "taken", "end"};
  return names[static_cast<std::size_t>(kind)];
}

bool has_elements(const Parting& parting) {
  const auto kind = static_cast<DatatypeKind>(parting.call.facts.type);
  return parting.call.facts.type != 0 && kind != DatatypeKind::bytes;
}

Extent elements_of(const Parting& parting) {
  if (!parting.bytes) return {};
  const auto kind = static_cast<DatatypeKind>(parting.call.facts.type);
  const std::uint64_t unit = has_elements(parting) ? std::max<std::uint64_t>(Datatype(kind).size(), 1) : 1;
  return {parting.bytes->begin / unit, ceil_div(parting.bytes->end, unit)};
}

std::string parting_text(const Parting& parting) {
  const std::string where = words_of_call(*parting.snapshot, parting.call);
  switch (parting.kind) {
    case PartingKind::given:
      return given_text(parting, where);
    case PartingKind::taken:
      return taken_text(parting, where);
    case PartingKind::unequal:
      return fmt::format("{}: {} get{} another result than {}{}", where, words_of_ranks(parting.ranks),
                         ending(parting.ranks), words_of_ranks(parting.equal_ranks), words_of_extent(parting));
    case PartingKind::call:
      return fmt::format("rank {} makes {}, and {} in the other run", parting.snapshot->world_rank, where,
                         words_of_call(*parting.snapshot, parting.other));
    case PartingKind::before:
      return fmt::format(
          "{}: ranks have given other data before this call, the first one that both recorders of rank "
          "{} hold; let TUTTI_FLIGHT_ENTRIES be more than its calls",
          where, parting.snapshot->world_rank);
    case PartingKind::end:
      return fmt::format("only one run makes {}; the last call of the other one there is {}", where,
                         words_of_call(*parting.snapshot, parting.other));
  }
  return where;
}

}  // namespace tutti::detail::flight
