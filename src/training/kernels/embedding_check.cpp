// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tutti/error.hpp>

#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels {

namespace {

/// The highest bit is that of an index which is negative, or for which `last - index` is: vectors have no comparison of
/// 64 bits without sign.
template <typename Index>
bool all_inside(const Index* indices, std::int64_t begin, std::int64_t end, std::int64_t rows) {
  const std::uint64_t last = static_cast<std::uint64_t>(rows) - 1;
  std::uint64_t bits = 0;
  for (std::int64_t p = begin; p < end; ++p) {
    const auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(indices[p]));
    bits |= index | (last - index);
  }
  return bits >> 63U == 0;
}

template <typename Index>
std::optional<IndexViolation> check_lookups(std::size_t t, const EmbeddingTable& table, const TableLookups& lookups,
                                            std::size_t bags) {
  const auto* indices = static_cast<const Index*>(lookups.indices);
  if (all_inside(indices, lookups.offsets[0], lookups.offsets[bags], table.rows)) return std::nullopt;
  for (std::size_t b = 0; b < bags; ++b) {
    for (std::int64_t p = lookups.offsets[b]; p < lookups.offsets[b + 1]; ++p) {
      const auto index = static_cast<std::int64_t>(indices[p]);
      if (index < 0 || index >= table.rows) {
        return IndexViolation{t, b, static_cast<std::size_t>(p - lookups.offsets[b]), index, table.rows};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string IndexViolation::text() const {
  return "table " + std::to_string(table) + ", sample " + std::to_string(bag) + ", position " +
         std::to_string(position) + " in its bag: row " + std::to_string(index) + " is not in [0, " +
         std::to_string(rows) + ")";
}

std::optional<IndexViolation> check_indices(std::span<const EmbeddingTable> tables,
                                            std::span<const TableLookups> lookups, IndexType index_type,
                                            std::size_t bags) {
  if (tables.size() != lookups.size()) {
    throw Error(ErrorCode::invalid_argument, "check_indices: tables and lookups differ in length");
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto violation = index_type == IndexType::int32 ? check_lookups<std::int32_t>(t, tables[t], lookups[t], bags)
                                                          : check_lookups<std::int64_t>(t, tables[t], lookups[t], bags);
    if (violation) return violation;
  }
  return std::nullopt;
}

void check_table(const std::string& where, const EmbeddingTable& table) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::invalid_argument, where + what); };
  if (table.row_stride < table.dim) {
    refuse(".row_stride is " + std::to_string(table.row_stride) + ", less than its dim " + std::to_string(table.dim));
  }
  if (table.rows < 0) refuse(".rows is " + std::to_string(table.rows) + ", negative");
  if (table.place.whole_columns != 0 && table.place.first_column + table.dim > table.place.whole_columns) {
    refuse(".place has columns " + std::to_string(table.place.first_column) + " to " +
           std::to_string(table.place.first_column + table.dim) + " of a table of " +
           std::to_string(table.place.whole_columns));
  }
  switch (table.type) {
    case DatatypeKind::float32:
    case DatatypeKind::bfloat16:
    case DatatypeKind::float16:
      return;
    case DatatypeKind::uint8:
      if (table.rows > 0 && table.scales == nullptr)
        refuse(".scales is null; rows of type uint8 need one scale per row");
      return;
    default:
      throw Error(ErrorCode::invalid_datatype, where + ".type is " + datatype_name(table.type) +
                                                   "; embedding rows are float32, bfloat16, float16 or uint8");
  }
}

void check_call(const char* function, std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                std::size_t outputs, IndexType index_type, std::size_t bags, const EmbeddingOptions& options) {
  const std::string name = function;
  if (tables.size() != lookups.size() || tables.size() != outputs) {
    throw Error(ErrorCode::invalid_argument,
                name + ": tables, lookups and pooled vectors differ in number: " + std::to_string(tables.size()) +
                    ", " + std::to_string(lookups.size()) + ", " + std::to_string(outputs));
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    check_table(name + ": tables[" + std::to_string(t) + "]", tables[t]);
    if (options.pooling == Pooling::max && lookups[t].weights != nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  name + ": lookups[" + std::to_string(t) + "].weights must be null with max pooling");
    }
  }
  if (options.indices_checked) return;
  for (std::size_t t = 0; t < lookups.size() && bags > 0; ++t) {
    const std::int64_t* const end = lookups[t].offsets + bags + 1;
    const std::int64_t* const ascending = std::is_sorted_until(lookups[t].offsets, end);
    if (ascending == end) continue;
    throw Error(ErrorCode::invalid_argument, name + ": lookups[" + std::to_string(t) + "].offsets descend at entry " +
                                                 std::to_string(ascending - lookups[t].offsets) + "; they must ascend");
  }
  if (options.policy != IndexPolicy::fatal) return;
  if (const auto violation = check_indices(tables, lookups, index_type, bags)) {
    throw Error(ErrorCode::index_out_of_range,
                name + ": " + violation->text() + "; correct the data or choose the policy clamp or ignore");
  }
}

}  // namespace tutti::kernels
