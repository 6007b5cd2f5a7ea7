// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <vector>

#include "kernels/parallel.hpp"
#include "training/kernels/embedding_common.hpp"
#include "training/kernels/embedding_pool.hpp"

namespace tutti::kernels {

namespace {

template <typename Row, typename Index>
std::size_t pool_in_range(const BagRange& range) {
  switch (range.table.dim) {
    case 16:
      return pool_fixed<Row, Index, 16>(range), 0;
    case 32:
      return pool_fixed<Row, Index, 32>(range), 0;
    case 64:
      return pool_fixed<Row, Index, 64>(range), 0;
    case 128:
      return pool_fixed<Row, Index, 128>(range), 0;
    default:
      return pool_any<Row, Index, IndexPolicy::fatal>(range);
  }
}

template <typename Row, typename Index>
std::size_t pool(const BagRange& range, const EmbeddingOptions& options) {
  const bool maximum = options.pooling == Pooling::max;
  switch (options.policy) {
    case IndexPolicy::clamp:
      return maximum ? pool_max<Row, Index, IndexPolicy::clamp>(range)
                     : pool_any<Row, Index, IndexPolicy::clamp>(range);
    case IndexPolicy::ignore:
      return maximum ? pool_max<Row, Index, IndexPolicy::ignore>(range)
                     : pool_any<Row, Index, IndexPolicy::ignore>(range);
    default:
      return maximum ? pool_max<Row, Index, IndexPolicy::fatal>(range) : pool_in_range<Row, Index>(range);
  }
}

}  // namespace

std::size_t embedding_bag_forward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                  IndexType index_type, std::size_t bags, std::span<const Pooled<float>> outputs,
                                  const EmbeddingOptions& options) {
  check_call("embedding_bag_forward", tables, lookups, outputs.size(), index_type, bags, options);
  const std::size_t partitions = partition_count(options.partitions);
  std::vector<std::size_t> outside(partitions, 0);
  for_each_partition(partitions, [&](std::size_t p) {
    const auto [begin, end] = partition_range(tables.size() * bags, partitions, p);
    for (std::size_t item = begin; item < end;) {
      const std::size_t t = item / bags;
      const std::size_t next = std::min(end, (t + 1) * bags);
      const BagRange range{tables[t],       lookups[t],      outputs[t],
                           item - t * bags, next - t * bags, options.pooling == Pooling::mean};
      visit_row(tables[t].type, [&]<typename Row>(Row*) {
        visit_index(index_type, [&]<typename Index>(Index*) { outside[p] += pool<Row, Index>(range, options); });
      });
      item = next;
    }
  });
  return std::accumulate(outside.begin(), outside.end(), std::size_t{0});
}

}  // namespace tutti::kernels
