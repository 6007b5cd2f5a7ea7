// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/kernels/embedding_backward.hpp>
#include <vector>

#include "training/kernels/row_groups.hpp"

namespace tutti::kernels {

struct PartitionScratch {
  GroupScratch groups;
  std::span<const Occurrence> occurrences;  ///< grouped occurrences of the current table
  std::vector<float> gradient;              ///< one row
  std::vector<float> values;                ///< one row
  RowSquares squares;                       ///< for the rows of this partition
};

struct EmbeddingWorkspace::Scratch {
  std::vector<PartitionScratch> partitions;
  std::vector<std::uint32_t> bag_of_position;  ///< of one table, counted from its first position
  std::vector<float> factors;                  ///< per bag, 1 / indices that counted (mean pooling)
  std::vector<std::uint32_t> maximum_at;       ///< position of the maximum, bag x dim (max pooling)
};

}  // namespace tutti::kernels
