// SPDX-License-Identifier: BSD-3-Clause
#include "splits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "common/command_line/numbers.hpp"
#include "common/counter_random.hpp"

namespace tutti::commbench {
namespace {

using Parts = std::vector<std::uint64_t>;

/// The sum of all parts stays below 2^32, so that a product of two fits 64 bits.
constexpr std::uint64_t most_of_a_part = 65535;
constexpr std::size_t most_parts = 65536;

std::size_t uneven_length(std::size_t share, int k) { return k % 2 == 0 ? share - share / 2 : share + share / 2; }

std::uint64_t part_of(const Splits& splits, int ranks, int giver, int root, int taker) {
  switch (splits.kind) {
    case Splits::Kind::random:
      return miniapps::CounterRandom(splits.seed, static_cast<std::uint64_t>(giver))
                 .bits(static_cast<std::uint64_t>(taker)) %
             most_of_a_part;
    case Splits::Kind::zipf:
      return most_of_a_part / (static_cast<std::uint64_t>(taker) + 1);
    case Splits::Kind::one:
      return taker == (root + 1) % ranks ? 1 : 0;
    default:
      return splits.parts.at(static_cast<std::size_t>(taker));
  }
}

/// In proportion to the parts: block k ends at the rounded sum of the parts up to it.
Counts divide_by(const Parts& parts, std::size_t elements) {
  const std::uint64_t all = sum_of(parts);
  Counts counts;
  std::uint64_t passed = 0;
  std::size_t end = 0;
  for (const std::uint64_t part : parts) {
    passed += part;
    const std::size_t next = elements / all * passed + elements % all * passed / all;
    counts.push_back(next - end);
    end = next;
  }
  return counts;
}

Splits parse_parts(const std::string& text) {
  Splits splits{Splits::Kind::listed};
  for (const std::string& word : command_line::split(text, ','))
    splits.parts.push_back(command_line::parse_number<std::uint64_t>(word, {0, most_of_a_part}));
  if (sum_of(splits.parts) == 0) throw std::invalid_argument(fmt::format("'{}' gives nobody a part", text));
  return splits;
}

}  // namespace

Counts divide(const Splits& splits, std::size_t elements, int ranks, int giver, int root) {
  const auto blocks = static_cast<std::size_t>(ranks);
  const std::size_t share = elements / blocks;
  if (splits.kind == Splits::Kind::even) return Counts(blocks, share);
  Counts counts;
  if (splits.kind == Splits::Kind::uneven) {
    for (int k = 0; k < ranks; ++k) counts.push_back(uneven_length(share, giver + k));
    return counts;
  }
  Parts parts;
  for (int k = 0; k < ranks; ++k) parts.push_back(part_of(splits, ranks, giver, root, k));
  if (sum_of(parts) == 0) parts.back() = 1;
  return divide_by(parts, elements);
}

Splits parse_splits(const std::string& text) {
  using Kind = Splits::Kind;
  constexpr std::string_view seeded = "random:";
  for (const Kind kind : {Kind::even, Kind::uneven, Kind::random, Kind::zipf, Kind::one})
    if (const Splits splits{kind}; text == splits_text(splits) || (kind == Kind::random && text == "random"))
      return splits;
  if (text.starts_with(seeded))
    return {Kind::random, command_line::parse_number<std::uint64_t>(text.substr(seeded.size()), {})};
  const bool is_list = !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos;
  if (is_list && static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) < most_parts)
    return parse_parts(text);
  throw std::invalid_argument(fmt::format(
      "'{}' is none of even, uneven, random, random:SEED, zipf, one, nor a part for each rank, such as 3,1", text));
}

std::string splits_text(const Splits& splits) {
  switch (splits.kind) {
    case Splits::Kind::even:
      return "even";
    case Splits::Kind::uneven:
      return "uneven";
    case Splits::Kind::random:
      return fmt::format("random:{}", splits.seed);
    case Splits::Kind::zipf:
      return "zipf";
    case Splits::Kind::one:
      return "one";
    case Splits::Kind::listed:
      break;
  }
  return fmt::format("{}", fmt::join(splits.parts, ","));
}

}  // namespace tutti::commbench
