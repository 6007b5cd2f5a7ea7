// SPDX-License-Identifier: BSD-3-Clause
// Tables of embedding vectors, and plans that divide them over the ranks.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "element_types.hpp"
#include "embeddings.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using kernels::Pooling;
using kernels::RowOptimizer;

void make_table(EmbeddingTableConfig* self, const std::string& name, std::int64_t rows, std::size_t dim,
                const std::string& dtype, const std::string& pooling, double mean_lookups, const std::string& sharding,
                const std::vector<double>& lookup_shares, const std::string& row_order,
                const std::optional<RowFrequencies>& frequencies) {
  EmbeddingTableConfig table;
  table.name = name;
  table.rows = rows;
  table.dim = dim;
  table.type = type_of_name(dtype).kind();
  table.pooling = named<Pooling>(pooling, {"sum", "mean", "max"}, "pooling");
  table.mean_lookups = mean_lookups;
  table.sharding = named<Sharding>(
      sharding, {"automatic", "data_parallel", "table_wise", "row_wise", "column_wise", "row_wise_on_node"},
      "sharding");
  table.lookup_shares = lookup_shares;
  table.row_order = named<RowOrder>(row_order, {"automatic", "blocks", "cyclic"}, "row_order");
  table.frequencies = frequencies.value_or(RowFrequencies{});
  new (self) EmbeddingTableConfig(std::move(table));
}

void make_frequencies(RowFrequencies* self, const std::vector<std::int64_t>& hot_rows,
                      const std::vector<double>& hot_lookups, const std::vector<double>& bucket_rows,
                      const std::vector<double>& bucket_lookups) {
  new (self) RowFrequencies{hot_rows, hot_lookups, bucket_rows, bucket_lookups};
}

void bind_frequencies(nb::module_& module) {
  using Numbers = std::vector<double>;
  nb::class_<RowFrequencies>(module, "RowFrequencies",
                             "How often the rows of a table occur in data: hot_lookups are those of the hottest rows, "
                             "hot_rows; the others are in buckets of rows that occur about equally often, with the "
                             "number of rows in each and their lookups together.")
      .def("__init__", make_frequencies, nb::kw_only(), nb::arg("hot_rows") = std::vector<std::int64_t>{},
           nb::arg("hot_lookups") = Numbers{}, nb::arg("bucket_rows") = Numbers{},
           nb::arg("bucket_lookups") = Numbers{})
      .def_ro("hot_rows", &RowFrequencies::hot_rows)
      .def_ro("hot_lookups", &RowFrequencies::hot_lookups)
      .def_ro("bucket_rows", &RowFrequencies::bucket_rows)
      .def_ro("bucket_lookups", &RowFrequencies::bucket_lookups);
  module.def("count_rows", &count_rows, nb::arg("rows"), nb::arg("hottest") = 4096,
             "Counts rows: the hottest ones singly, the others in a bucket for each power of two. Local.");
}

}  // namespace

RowOptimizer optimizer_from(const std::string& name) {
  return named<RowOptimizer>(name, {"sgd", "adagrad", "row_wise_adagrad", "adam"}, "optimizer");
}

DatatypeKind exchange_type_from(const std::string& name) {
  constexpr DatatypeKind types[] = {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16};
  return types[named<std::size_t>(name, {"float32", "bfloat16", "float16"}, "exchange_dtype")];
}

ShardingPlan make_plan(PythonCommunicator& comm, const Tables& tables, std::size_t batch, std::size_t memory_limit,
                       const std::string& optimizer, const std::string& exchange_dtype) {
  const PlannerOptions options{batch, memory_limit, optimizer_from(optimizer), exchange_type_from(exchange_dtype)};
  return comm.run([&] { return plan_sharding(comm.get(), tables, options); });
}

void bind_sharding_plan(nb::module_& module) {
  bind_frequencies(module);
  nb::class_<EmbeddingTableConfig>(module, "EmbeddingTable",
                                   "A table of an EmbeddingCollection, equal on all ranks. dtype: 'float32', "
                                   "'bfloat16', 'float16' or 'uint8' (with a scale per row). pooling: 'sum', 'mean' or "
                                   "'max'. sharding: 'automatic', 'data_parallel', 'table_wise', 'row_wise', "
                                   "'column_wise' or 'row_wise_on_node'. mean_lookups is for the "
                                   "planner, and so is lookup_shares: how often each of equally large blocks of rows "
                                   "is looked up, in any unit, and frequencies (RowFrequencies). row_order of row-wise "
                                   "tables: 'automatic', 'blocks' or 'cyclic' (row r on rank r % size).")
      .def("__init__", make_table, nb::arg("name"), nb::arg("rows"), nb::arg("dim"), nb::kw_only(),
           nb::arg("dtype") = "float32", nb::arg("pooling") = "sum", nb::arg("mean_lookups") = 1.0,
           nb::arg("sharding") = "automatic", nb::arg("lookup_shares") = std::vector<double>{},
           nb::arg("row_order") = "automatic", nb::arg("frequencies") = nb::none())
      .def_ro("name", &EmbeddingTableConfig::name)
      .def_ro("rows", &EmbeddingTableConfig::rows)
      .def_ro("dim", &EmbeddingTableConfig::dim);
  nb::class_<TableShard>(
      module, "TableShard",
      "A part of a table on a rank: rows row_begin:row_end:row_step, columns column_begin:column_end.")
      .def_ro("table", &TableShard::table)
      .def_ro("rank", &TableShard::rank)
      .def_ro("row_begin", &TableShard::row_begin)
      .def_ro("row_end", &TableShard::row_end)
      .def_ro("row_step", &TableShard::row_step)
      .def_ro("column_begin", &TableShard::column_begin)
      .def_ro("column_end", &TableShard::column_end);
  nb::class_<ShardingPlan>(module, "ShardingPlan", "Says which rank has which part of which table.")
      .def_ro("shards", &ShardingPlan::shards)
      .def_prop_ro("seconds", &ShardingPlan::seconds, "The predicted time of the slowest rank's lookups and exchanges.")
      .def("__str__", &ShardingPlan::text);
  module.def("plan_sharding", make_plan, nb::arg("comm"), nb::arg("tables"), nb::arg("batch"),
             nb::arg("memory_limit") = 0, nb::arg("optimizer") = "sgd", nb::arg("exchange_dtype") = "float32",
             "Divides tables over the ranks so that the step of the slowest one is short. memory_limit: bytes of rows "
             "and state on a rank, 0: none. exchange_dtype: as of EmbeddingCollection. Collective. Raises Error: "
             "INVALID_ARGUMENT, MISMATCH.");
}

}  // namespace tutti::python
