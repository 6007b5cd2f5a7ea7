// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/shard_tables.hpp"

namespace tutti::detail {

/// The lookups of one batch where rows are cached: their rows are in slots, which the indices name.
class CachedLookups {
 public:
  CachedLookups(const CollectionFacts& facts, ShardTables& tables);

  /// Brings the rows that a forward reads into slots. The other lookups are those of the same batch, from here on.
  void bring_for_forward(const BatchLookups& lookups, std::size_t batch);
  /// Brings those that an update changes, unless they are still where the forward left them.
  void bring_for_update(const BatchLookups& lookups, std::size_t batch);

  /// As of BatchLookups. Valid until rows of any batch are brought.
  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const { return all_[i].lookups; }
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const { return own_[i].lookups; }

 private:
  struct Piece {
    kernels::TableLookups lookups;
    std::vector<std::byte> slots{};
    std::vector<std::int64_t> offsets{};
  };
  void begin(const BatchLookups& lookups);
  void add(Piece& piece, std::size_t i, const kernels::TableLookups& from, std::size_t bags);
  void bring();

  const CollectionFacts* facts_;
  ShardTables* tables_;
  kernels::IndexType type_ = kernels::IndexType::int64;
  std::vector<Piece> all_;
  std::vector<Piece> own_;
  std::vector<std::vector<RowCache::Request>> requests_;  ///< of each cache
  std::uint64_t generation_ = 0;                          ///< of the caches, when all_ was brought
  bool has_all_ = false;                                  ///< all_ has been brought in this batch
};

}  // namespace tutti::detail
