// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <tutti/checkpoint.hpp>
#include <tutti/embedding_collection.hpp>
#include <vector>

#include "embeddings.hpp"
#include "numpy_array.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using kernels::IndexPolicy;
using kernels::Rounding;

struct PythonCollection : Kept<EmbeddingCollection> {
  PythonCollection(std::unique_ptr<EmbeddingCollection> made, nb::object comm, std::size_t slots)
      : Kept(std::move(made), std::move(comm)), bags(slots), batches(slots) {}
  std::vector<Bags> bags;
  std::vector<std::size_t> batches;
  CheckpointSave under_way{};
};

EmbeddingCollectionOptions options_of(const std::string& optimizer, float epsilon, double beta1, double beta2,
                                      const std::string& rounding, const std::string& policy, std::size_t max_batch,
                                      std::size_t slots, bool weighted, std::uint64_t seed, bool epsilon_hat, bool grow,
                                      const std::string& exchange_dtype, std::size_t table_memory,
                                      const std::string& table_folder) {
  EmbeddingCollectionOptions options;
  options.optimizer = optimizer_from(optimizer);
  options.epsilon = epsilon;
  options.beta1 = beta1;
  options.beta2 = beta2;
  options.rounding = named<Rounding>(rounding, {"nearest", "stochastic"}, "rounding");
  options.policy = named<IndexPolicy>(policy, {"fatal", "clamp", "ignore"}, "policy");
  options.max_batch = max_batch;
  options.slots = slots;
  options.weighted = weighted;
  options.seed = seed;
  options.epsilon_hat = epsilon_hat;
  options.grow = grow;
  options.exchange_type = exchange_type_from(exchange_dtype);
  options.table_memory = table_memory;
  options.table_folder = table_folder;
  return options;
}

void make_collection(PythonCollection* self, nb::object comm, const Tables& tables, nb::handle plan,
                     std::size_t max_batch, const std::string& optimizer, float epsilon, double beta1, double beta2,
                     const std::string& rounding, const std::string& policy, std::size_t slots, bool weighted,
                     std::uint64_t seed, bool epsilon_hat, bool grow, const std::string& exchange_dtype,
                     std::size_t table_memory, const std::string& table_folder) {
  const EmbeddingCollectionOptions options =
      options_of(optimizer, epsilon, beta1, beta2, rounding, policy, max_batch, slots, weighted, seed, epsilon_hat,
                 grow, exchange_dtype, table_memory, table_folder);
  auto& ranks = nb::cast<PythonCommunicator&>(comm);
  const ShardingPlan chosen =
      plan.is_none() ? make_plan(ranks, tables, max_batch, 0, optimizer, exchange_dtype) : nb::cast<ShardingPlan>(plan);
  auto made = ranks.run([&] { return std::make_unique<EmbeddingCollection>(ranks.get(), tables, chosen, options); });
  new (self) PythonCollection(std::move(made), std::move(comm), slots);
}

std::size_t checked_slot(const PythonCollection& collection, std::size_t slot) {
  if (slot >= collection.bags.size())
    throw Error(ErrorCode::invalid_argument, "argument slot is " + std::to_string(slot) + ", but there are " +
                                                 std::to_string(collection.bags.size()) + " slots");
  return slot;
}

SampleSlice slice_of(const PythonCollection& collection, std::size_t batch) {
  const Communicator& comm = nb::cast<const PythonCommunicator&>(collection.communicator).get();
  return sample_slice(batch, comm.rank(), comm.size());
}

void start_forward(PythonCollection& collection, const nb::sequence& tables, std::size_t batch, std::size_t slot,
                   const std::string& layout) {
  EmbeddingCollection& part = collection.get();
  EmbeddingInput input;
  input.layout = named<InputLayout>(layout, {"global", "local"}, "layout");
  const std::size_t samples = input.layout == InputLayout::global ? batch : slice_of(collection, batch).size();
  Bags bags;
  const std::string fault = read_bags(bags, tables, samples);
  bags.tables.resize(fault.empty() ? bags.tables.size() : part.tables());
  input.tables = bags.tables;
  input.index_type = bags.type;
  input.batch = batch;
  input.error = fault;
  {
    const nb::gil_scoped_release unlocked;
    part.start_forward(checked_slot(collection, slot), input);
  }
  collection.bags[slot] = std::move(bags);
  collection.batches[slot] = batch;
}

/// One array a table: samples x dim, with strides.
template <typename Float>
nb::list arrays_of(nb::handle self, const std::vector<kernels::Pooled<Float>>& vectors, std::size_t samples) {
  const EmbeddingCollection& part = nb::cast<const PythonCollection&>(self).get();
  nb::list arrays;
  for (std::size_t t = 0; t < vectors.size(); ++t)
    arrays.append(numpy_array(const_cast<float*>(vectors[t].data), DatatypeKind::float32, {samples, part.table(t).dim},
                              self, {static_cast<std::int64_t>(vectors[t].stride), 1}));
  return arrays;
}

nb::list finish_forward(nb::handle self, std::size_t slot) {
  auto& collection = nb::cast<PythonCollection&>(self);
  EmbeddingCollection& part = collection.get();
  const std::vector<kernels::Pooled<const float>>* vectors = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    vectors = &part.finish_forward(checked_slot(collection, slot));
  }
  return arrays_of(self, *vectors, slice_of(collection, collection.batches[slot]).size());
}

nb::list gradients(nb::handle self, std::size_t slot) {
  const auto& collection = nb::cast<const PythonCollection&>(self);
  return arrays_of(self, collection.get().gradients(checked_slot(collection, slot)),
                   slice_of(collection, collection.batches[slot]).size());
}

void start_backward(PythonCollection& collection, std::size_t slot) {
  EmbeddingCollection& part = collection.get();
  const nb::gil_scoped_release unlocked;
  part.start_backward(checked_slot(collection, slot));
}

void finish_backward(PythonCollection& collection, float learning_rate, std::size_t slot) {
  EmbeddingCollection& part = collection.get();
  {
    const nb::gil_scoped_release unlocked;
    part.finish_backward(checked_slot(collection, slot), learning_rate);
  }
  collection.bags[slot] = Bags{};
}

void fill(PythonCollection& collection, std::size_t t, const nb::callable& make) {
  const std::size_t dim = collection.get().table(t).dim;
  collection.get().fill(t, [&](std::int64_t begin, std::int64_t end, std::span<float> values) {
    const auto rows = static_cast<std::size_t>(end - begin);
    make(begin, end, numpy_array(values.data(), DatatypeKind::float32, {rows, dim}, nb::handle()));
  });
}

nb::object read_rows(const PythonCollection& collection, std::size_t shard) {
  const EmbeddingCollection& part = collection.get();
  if (shard >= part.shards().size())
    throw Error(ErrorCode::invalid_argument, "argument shard is " + std::to_string(shard) + ", but this rank has " +
                                                 std::to_string(part.shards().size()) + " shards");
  const TableShard& place = part.shards()[shard];
  const auto rows = static_cast<std::size_t>(place.rows());
  nb::object out = nb::module_::import_("numpy").attr("empty")(nb::make_tuple(rows, place.columns()), "float32");
  const View values(out, View::Use::write, "out");
  part.read_rows(shard, place.row_begin, place.row_end,
                 {static_cast<float*>(values.output().data), values.output().count});
  return out;
}

SaveKind kind_of(bool incremental) { return incremental ? SaveKind::incremental : SaveKind::full; }

void save(PythonCollection& collection, const std::string& folder, bool incremental) {
  auto& comm = nb::cast<PythonCommunicator&>(collection.communicator);
  const auto add = [&](CheckpointPart& part) { collection.get().add_to(part); };
  comm.run([&] { save_checkpoint(comm.get(), folder, add, kind_of(incremental)); });
}

void start_save(PythonCollection& collection, const std::string& folder, bool incremental) {
  auto& comm = nb::cast<PythonCommunicator&>(collection.communicator);
  const auto add = [&](CheckpointPart& part) { collection.get().add_to(part); };
  comm.run([&] {
    collection.under_way.wait();
    collection.under_way = CheckpointSave(comm.get(), folder, add, kind_of(incremental));
  });
}

bool test_save(PythonCollection& collection) {
  bool done = false;
  nb::cast<PythonCommunicator&>(collection.communicator).run([&] { done = collection.under_way.test(); });
  return done;
}

void finish_save(PythonCollection& collection) {
  nb::cast<PythonCommunicator&>(collection.communicator).run([&] { collection.under_way.wait(); });
}

void load(PythonCollection& collection, const std::string& folder) {
  auto& comm = nb::cast<PythonCommunicator&>(collection.communicator);
  comm.run([&] { load_checkpoint(comm.get(), folder, [&](const auto& reader) { collection.get().load(reader); }); });
}

}  // namespace

void bind_embeddings(nb::module_& module) {
  bind_sharding_plan(module);
  nb::class_<PythonCollection> collection(
      module, "EmbeddingCollection",
      "Embedding tables that a plan divides over the ranks. A step: start_forward(bags, batch), vectors = "
      "finish_forward(), write gradients(), start_backward(), finish_backward(learning_rate). All calls are "
      "collective, "
      "in the same order on all ranks, unless marked Local. batch counts the samples on all ranks together, at most "
      "max_batch; a rank computes those of sample_slice(batch). Each of `slots` batches in flight has its own arrays. "
      "optimizer: 'sgd', 'adagrad', 'row_wise_adagrad' or 'adam'; policy for bad indices: 'fatal', 'clamp' or "
      "'ignore'; exchange_dtype, in which vectors and their gradients travel: 'float32', 'bfloat16' or 'float16'. "
      "table_memory, for tables larger than memory: bytes of a rank's rows and state in memory (0: no limit), where "
      "files in table_folder, on a disk of its node, have all of them. "
      "Without a plan plan_sharding() makes one. Free it before its communicator.");
  const auto slot = nb::arg("slot") = 0;
  collection
      .def("__init__", make_collection, nb::arg("comm"), nb::arg("tables"), nb::arg("plan").none() = nb::none(),
           nb::kw_only(), nb::arg("max_batch"), nb::arg("optimizer") = "sgd", nb::arg("epsilon") = 1e-10F,
           nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999, nb::arg("rounding") = "nearest",
           nb::arg("policy") = "fatal", nb::arg("slots") = 1, nb::arg("weighted") = false, nb::arg("seed") = 0,
           nb::arg("epsilon_hat") = false, nb::arg("grow") = false, nb::arg("exchange_dtype") = "float32",
           nb::arg("table_memory") = 0, nb::arg("table_folder") = "",
           nb::sig("def __init__(self, comm: Communicator, tables: collections.abc.Sequence[EmbeddingTable], plan: "
                   "ShardingPlan | None = None, *, max_batch: int, optimizer: str = 'sgd', epsilon: float = 1e-10, "
                   "beta1: float = 0.9, beta2: float = 0.999, rounding: str = 'nearest', policy: str = 'fatal', slots: "
                   "int = 1, weighted: bool = False, seed: int = 0, epsilon_hat: bool = False, grow: bool = False, "
                   "exchange_dtype: str = 'float32', table_memory: int = 0, table_folder: str = '') -> None"))
      .def(
          "needs", [](const PythonCollection& c, std::size_t t) { return c.get().needs(t); }, nb::arg("table"),
          "True if this rank must pass the bags of a table with layout='global'. Local.")
      .def(
          "sample_slice",
          [](const PythonCollection& c, std::size_t batch) {
            const SampleSlice part = slice_of(c, batch);
            return nb::slice(nb::int_(part.begin), nb::int_(part.end), nb::none());
          },
          nb::arg("batch"), nb::sig("def sample_slice(self, batch: int) -> slice"),
          "The samples of a batch that this rank computes. Local.")
      .def("start_forward", start_forward, nb::arg("bags"), nb::arg("batch"), slot, nb::arg("layout") = "global",
           nb::sig("def start_forward(self, bags: collections.abc.Sequence[typing.Any], batch: int, slot: int = 0, "
                   "layout: str = 'global') -> None"),
           "Looks rows up and sends pooled vectors on their way. bags has for each table (indices, offsets) or "
           "(indices, offsets, weights), or None for one that is not needed: bag b is indices[offsets[b]:offsets[b + "
           "1]], int64 or int32; offsets, int64, has one more element than there are bags. layout 'global': the bags "
           "of all samples; 'local': of this rank's samples, for all tables. The arrays are kept until "
           "finish_backward(). Raises Error, on all ranks: INDEX_OUT_OF_RANGE, INVALID_ARGUMENT, MISMATCH.")
      .def("finish_forward", finish_forward, slot,
           nb::sig("def finish_forward(self, slot: int = 0) -> "
                   "list[numpy.ndarray]"),
           "The pooled vectors of this rank's samples, for each table float32 of samples x dim, without a copy: valid "
           "until the slot's next input.")
      .def("gradients", gradients, slot, nb::sig("def gradients(self, slot: int = 0) -> list[numpy.ndarray]"),
           "Where the gradients of these vectors are written before start_backward(). Local.")
      .def("start_backward", start_backward, slot, "Starts to send the gradients back; never blocks.")
      .def("finish_backward", finish_backward, nb::arg("learning_rate"), slot, "Updates the rows.")
      .def(
          "initialize", [](PythonCollection& c) { c.get().initialize(); },
          "Sets all rows to uniform numbers in +-1/sqrt(rows), the same for every plan. Local.")
      .def("fill", fill, nb::arg("table"), nb::arg("make"),
           nb::sig("def fill(self, table: int, make: typing.Callable[[int, int, numpy.ndarray], typing.Any]) -> None"),
           "Sets the rows of a table: calls make(begin, end, values) for blocks of them, which sets values, float32 of "
           "(end - begin) x dim. Local.")
      .def_prop_ro(
          "shards",
          [](const PythonCollection& c) {
            return std::vector<TableShard>(c.get().shards().begin(), c.get().shards().end());
          },
          "This rank's shards.")
      .def("read_rows", read_rows, nb::arg("shard"), nb::sig("def read_rows(self, shard: int) -> numpy.ndarray"),
           "A copy of the rows of shards[shard], in float32. Local.")
      .def_prop_ro("plan", [](const PythonCollection& c) { return c.get().plan(); })
      .def_prop_ro(
          "bytes", [](const PythonCollection& c) { return c.get().bytes(); },
          "Bytes of rows and optimizer state on this rank.")
      .def_prop_ro("steps", [](const PythonCollection& c) { return c.get().steps(); })
      .def(
          "save", save, nb::arg("folder"), nb::kw_only(), nb::arg("incremental") = false,
          "Writes rows and state as a checkpoint that all ranks see; with incremental only the rows that changed since "
          "the last incremental save to this folder, added to the checkpoint that is there (the first is full). Raises "
          "Error: IO; INVALID_ARGUMENT for values that are not finite.")
      .def(
          "start_save", start_save, nb::arg("folder"), nb::kw_only(), nb::arg("incremental") = false,
          "Starts to save what is here now, as save() does, while training goes on; waits for the save before. Freeing "
          "the collection gives a save up.")
      .def("test_save", test_save,
           "Returns True once the save that was started has ended on all ranks, or if there is none. Raises Error as "
           "save() does.")
      .def("finish_save", finish_save, "Waits for the save that was started. Raises Error as save() does.")
      .def(
          "load", load, nb::arg("folder"),
          "Reads rows and state from a checkpoint of the same tables, with any plan and number of ranks. Raises Error: "
          "IO.");
  define_free(collection);
}

}  // namespace tutti::python
