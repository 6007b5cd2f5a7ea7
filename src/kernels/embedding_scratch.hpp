// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/kernels/embedding_backward.hpp>
#include <vector>

#include "kernels/row_groups.hpp"

namespace tutti::kernels {

struct PartitionScratch {
  GroupScratch groups;
  std::span<const Occurrence> occurrences;  ///< grouped, of the table in work
  std::vector<float> gradient;              ///< of one row
  std::vector<float> values;                ///< of one row
  RowSquares squares;                       ///< of the rows of this partition
};

struct EmbeddingWorkspace::Scratch {
  std::vector<PartitionScratch> partitions;
  std::vector<std::uint32_t> bag_of_position;  ///< of one table, relative to its first position
  std::vector<float> factors;                  ///< 1 / indices that counted, a bag (mean pooling)
  std::vector<std::uint32_t> maximum_at;       ///< position of the maximum, bag x dim (max pooling)
};

}  // namespace tutti::kernels
