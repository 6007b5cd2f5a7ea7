// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <tutti/embedding_collection.hpp>
#include <vector>

#include "communicator.hpp"
#include "view.hpp"

namespace tutti::python {

using Tables = std::vector<EmbeddingTableConfig>;

[[nodiscard]] kernels::RowOptimizer optimizer_from(const std::string& name);
/// The datatype that the argument exchange_dtype names.
[[nodiscard]] DatatypeKind exchange_type_from(const std::string& name);

/// Divides tables over the ranks. Collective.
[[nodiscard]] ShardingPlan make_plan(PythonCommunicator& comm, const Tables& tables, std::size_t batch,
                                     std::size_t memory_limit, const std::string& optimizer,
                                     const std::string& exchange_dtype);

/// The bags of a batch in a slot, which the collection reads until the slot's update or its next input.
struct Bags {
  std::vector<View> views{};
  std::vector<kernels::TableLookups> tables{};
  kernels::IndexType type = kernels::IndexType::int64;
};

/// Reads the bags of all tables. Returns the text of a fault, which is one of all ranks by EmbeddingInput::error.
[[nodiscard]] std::string read_bags(Bags& bags, const nanobind::sequence& tables, std::size_t samples);

void bind_sharding_plan(nanobind::module_& module);

}  // namespace tutti::python
