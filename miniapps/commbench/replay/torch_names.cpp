// SPDX-License-Identifier: BSD-3-Clause
#include "replay/torch_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "counts.hpp"

namespace tutti::commbench::replay {
namespace {

constexpr auto torch_calls = std::to_array<std::pair<std::string_view, TorchCall>>({
    {"allreduce", {TorchKind::collective, Operation::allreduce}},
    {"broadcast", {TorchKind::collective, Operation::bcast}},
    {"reduce", {TorchKind::collective, Operation::reduce}},
    {"allgather", {TorchKind::collective, Operation::allgather}},
    {"reducescatter", {TorchKind::collective, Operation::reduce_scatter_block}},
    {"alltoall", {TorchKind::collective, Operation::alltoall}},
    {"alltoallv", {TorchKind::collective, Operation::alltoall}},
    {"gather", {TorchKind::collective, Operation::gather}},
    {"scatter", {TorchKind::collective, Operation::scatter}},
    {"barrier", {TorchKind::collective, Operation::barrier}},
    {"send", {TorchKind::send, {}}},
    {"isend", {TorchKind::send, {}}},
    {"recv", {TorchKind::recv, {}}},
    {"irecv", {TorchKind::recv, {}}},
    {"recvanysource", {TorchKind::recv, {}}},
    {"wait", {TorchKind::wait, {}}},
    {"init", {TorchKind::nothing, {}}},
    {"batchisendirecv", {TorchKind::nothing, {}}},
});

constexpr auto torch_types = std::to_array<std::pair<std::string_view, DatatypeKind>>({
    {"float", DatatypeKind::float32},
    {"float32", DatatypeKind::float32},
    {"double", DatatypeKind::float64},
    {"float64", DatatypeKind::float64},
    {"half", DatatypeKind::float16},
    {"float16", DatatypeKind::float16},
    {"bfloat16", DatatypeKind::bfloat16},
    {"float8_e4m3fn", DatatypeKind::float8_e4m3},
    {"float8_e5m2", DatatypeKind::float8_e5m2},
    {"char", DatatypeKind::int8},
    {"signed char", DatatypeKind::int8},
    {"int8", DatatypeKind::int8},
    {"byte", DatatypeKind::uint8},
    {"unsigned char", DatatypeKind::uint8},
    {"uint8", DatatypeKind::uint8},
    {"short", DatatypeKind::int16},
    {"int16", DatatypeKind::int16},
    {"int", DatatypeKind::int32},
    {"int32", DatatypeKind::int32},
    {"long", DatatypeKind::int64},
    {"long int", DatatypeKind::int64},
    {"int64", DatatypeKind::int64},
    {"bool", DatatypeKind::logical8},
    {"complexfloat", DatatypeKind::complex64},
    {"complexdouble", DatatypeKind::complex128},
});

/// Letters only, in lower case, without the words that tell forms of one collective apart.
std::string stem_of(std::string_view name) {
  std::string stem;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      stem += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view suffix : {"coalesced", "oop", "single", "base", "tensor", "into"})
    if (stem.ends_with(suffix)) stem.resize(stem.size() - suffix.size());
  return stem;
}

template <typename Rows>
const auto* find_row(const Rows& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == name; });
  return found == rows.end() ? nullptr : &found->second;
}

/// One block of a buffer of all ranks.
std::size_t block_of(const Record& record, std::size_t elements, std::size_t ranks) {
  if (elements % ranks != 0)
    record.fail(fmt::format("{} elements are not divided by the {} ranks of the communicator; give their splits",
                            elements, ranks));
  return elements / ranks;
}

std::vector<std::size_t> splits_of(const Record& record, const std::vector<std::size_t>& split, std::size_t elements,
                                   std::size_t ranks) {
  if (split.empty()) return std::vector<std::size_t>(ranks, block_of(record, elements, ranks));
  if (split.size() != ranks)
    record.fail(fmt::format("{} splits do not fit a communicator of {} ranks", split.size(), ranks));
  const std::size_t sum = sum_of(split);
  if (sum == elements) return split;
  // Splits of a tensor count its rows.
  if (sum == 0 || elements % sum != 0)
    record.fail(fmt::format("the splits add up to {}, which does not divide the {} elements", sum, elements));
  std::vector<std::size_t> scaled = split;
  for (std::size_t& one : scaled) one *= elements / sum;
  return scaled;
}

}  // namespace

TorchCall find_torch_call(std::string_view name) {
  const TorchCall* found = find_row(torch_calls, stem_of(name));
  return found == nullptr ? TorchCall{} : *found;
}

std::optional<Datatype> find_torch_type(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const auto open = lower.rfind('('); open != std::string::npos)
    lower = lower.substr(open + 1, lower.find(')', open) - open - 1);
  if (lower.starts_with("c10::")) lower.erase(0, 5);
  const DatatypeKind* found = find_row(torch_types, lower);
  return found == nullptr ? std::nullopt : std::optional<Datatype>(*found);
}

Exchange torch_exchange(const Record& record, Operation operation, Datatype type, const TorchSizes& sizes,
                        std::size_t ranks) {
  Exchange exchange;
  exchange.operation = operation;
  exchange.type = type;
  const OperationTraits& row = traits_of(operation);
  if (row.combines()) exchange.op = type.kind() == DatatypeKind::logical8 ? ReduceKind::lor : ReduceKind::sum;
  switch (operation) {
    case Operation::barrier:
      break;
    case Operation::reduce_scatter_block:
    case Operation::scatter:
      exchange.count = sizes.out != 0 ? sizes.out : block_of(record, sizes.in, ranks);
      break;
    case Operation::alltoall:
      if (sizes.in_split.empty() && sizes.out_split.empty()) {
        exchange.count = block_of(record, sizes.in, ranks);
        break;
      }
      exchange.operation = Operation::alltoallv;
      exchange.send_counts = splits_of(record, sizes.in_split, sizes.in, ranks);
      exchange.recv_counts = splits_of(record, sizes.out_split, sizes.out, ranks);
      break;
    default:
      exchange.count = sizes.in != 0            ? sizes.in
                       : row.has_equal_blocks() ? block_of(record, sizes.out, ranks)
                                                : sizes.out;
  }
  return exchange;
}

}  // namespace tutti::commbench::replay
