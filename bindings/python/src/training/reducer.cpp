// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <tutti/gradient_reducer.hpp>
#include <tutti/sharded_optimizer.hpp>
#include <vector>

#include "arguments.hpp"
#include "element_types.hpp"
#include "numpy_array.hpp"
#include "operation.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// A reducer and the arrays that it reads and writes.
struct PythonReducer : Kept<GradientReducer> {
  using Kept::Kept;
  PythonReducer(const PythonReducer&) = delete;
  PythonReducer& operator=(const PythonReducer&) = delete;
  ~PythonReducer() {
    if (part) keep_until_exit({{}, {}, std::move(arrays), {}});
  }
  std::vector<View> arrays{};
};

std::shared_ptr<CommunicationHook> hook_from(nb::handle name, const nb::kwargs& keywords) {
  const std::string text = nb::str(name).c_str();
  if (text != "power_sgd" && keywords.size() != 0)
    throw nb::type_error("unexpected keyword arguments: only hook='power_sgd' has options of its own");
  if (text == "allreduce") return nullptr;  // the reducer's own
  if (text == "bf16") return bf16_hook();
  if (text == "fp16") return fp16_hook();
  if (text == "sharding") return sharding_hook();
  if (text != "power_sgd")
    throw Error(ErrorCode::invalid_argument,
                "argument hook is '" + text + "'; pass 'allreduce', 'bf16', 'fp16', 'power_sgd' or 'sharding'");
  PowerSgdOptions options;
  for (const auto [key, value] : keywords) {
    const std::string word = nb::str(key).c_str();
    if (word == "rank")
      options.rank = value_from<std::size_t>(value, "rank", "a number of columns");
    else if (word == "start_step")
      options.start_step = value_from<std::size_t>(value, "start_step", "a number of steps");
    else if (word == "min_compression_rate")
      options.min_compression_rate = value_from<double>(value, "min_compression_rate", "a number");
    else if (word == "error_feedback")
      options.error_feedback = value_from<bool>(value, "error_feedback", "True or False");
    else if (word == "warm_start")
      options.warm_start = value_from<bool>(value, "warm_start", "True or False");
    else if (word == "seed")
      options.seed = value_from<std::uint64_t>(value, "seed", "an integer from 0");
    else
      throw nb::type_error(("unexpected keyword argument '" + word + "'").c_str());
  }
  return power_sgd_hook(options);
}

void make_reducer(PythonReducer* self, nb::object comm, std::size_t bucket_bytes, std::size_t first_bucket_bytes,
                  nb::handle op, bool rebuild, bool find_unused, bool uneven, bool average_active, bool check,
                  std::size_t communicators, bool progress_thread, nb::handle hook, nb::handle memory,
                  nb::handle stream, std::size_t blocks, const nb::kwargs& hook_options) {
  ReducerOptions options;
  options.bucket_bytes = bucket_bytes;
  options.first_bucket_bytes = first_bucket_bytes;
  options.op = operation_from(op).op.kind();
  options.rebuild = rebuild;
  options.find_unused = find_unused;
  options.uneven = uneven;
  options.average_active = average_active;
  options.check = check;
  options.communicators = communicators;
  options.progress_thread = progress_thread;
  options.hook = hook_from(hook, hook_options);
  options.memory = memory_from(memory);
  options.stream = stream_from(stream);
  options.blocks = blocks;
  const Communicator& ranks = nb::cast<const PythonCommunicator&>(comm).get();
  new (self) PythonReducer(std::make_unique<GradientReducer>(ranks, options), std::move(comm));
}

/// The array that says shape and type, and its address.
void* take(PythonReducer& reducer, nb::handle array, const char* argument, Parameter& parameter) {
  if (array.is_none()) return nullptr;
  reducer.arrays.emplace_back(array, View::Use::write, argument);
  const Buffer& buffer = reducer.arrays.back().contiguous(argument);
  parameter.type = buffer.type.kind();
  parameter.shape.clear();
  for (const nb::handle extent : nb::object(array.attr("shape")))
    parameter.shape.push_back(nb::cast<std::size_t>(extent));
  return buffer.data;
}

std::size_t add(PythonReducer& reducer, const std::string& name, nb::handle gradient, nb::handle value,
                nb::handle shape, const std::string& dtype) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = type_of_name(dtype).kind();
  parameter.shape = numbers_from(shape, "shape");
  parameter.value = take(reducer, value, "value", parameter);
  parameter.gradient = take(reducer, gradient, "gradient", parameter);
  return reducer.get().add(std::move(parameter));
}

nb::object gradient(nb::handle self, std::size_t i) {
  const GradientReducer& reducer = nb::cast<const PythonReducer&>(self).get();
  const Buffer found = reducer.gradient(i);
  return numpy_array(found.data, found.type, reducer.parameter(i).shape, self);
}

nb::bytes bytes_of(const std::vector<std::byte>& state) { return nb::bytes(state.data(), state.size()); }
std::span<const std::byte> bytes_in(const nb::bytes& state) {
  return {static_cast<const std::byte*>(state.data()), state.size()};
}

/// A function of the reducer that waits for other ranks.
template <auto function>
auto unlocked(PythonReducer& reducer) {
  GradientReducer& part = reducer.get();
  const nb::gil_scoped_release without_lock;
  return (part.*function)();
}

double clip(PythonReducer& reducer, double max_norm) {
  GradientReducer& part = reducer.get();
  const Communicator& comm = nb::cast<const PythonCommunicator&>(reducer.communicator).get();
  const nb::gil_scoped_release without_lock;
  return clip_gradients(part, comm, max_norm);
}

void bind_statistics(nb::module_& module) {
  nb::class_<ReducerStatistics>(module, "ReducerStatistics")
      .def_ro("steps", &ReducerStatistics::steps)
      .def_ro("buckets", &ReducerStatistics::buckets)
      .def_ro("bucket_bytes", &ReducerStatistics::bucket_bytes, "The limit in use.")
      .def_ro("bytes_per_step", &ReducerStatistics::bytes_per_step)
      .def_ro("exposed_seconds", &ReducerStatistics::exposed_seconds,
              "The caller's time in ready(), progress() and wait() in the last step.")
      .def_ro("rebuilt", &ReducerStatistics::rebuilt)
      .def_ro("tuned", &ReducerStatistics::tuned);
}

using kernels::DenseOptimizer;
using kernels::DenseUpdate;
using PythonOptimizer = Kept<ShardedOptimizer>;

void make_optimizer(PythonOptimizer* self, nb::object reducer, const std::string& optimizer, double momentum,
                    bool nesterov, double weight_decay, double beta1, double beta2, double epsilon) {
  DenseUpdate update;
  update.optimizer = named<DenseOptimizer>(optimizer, {"sgd", "adagrad", "adam"}, "optimizer");
  update.momentum = momentum;
  update.nesterov = nesterov;
  update.weight_decay = weight_decay;
  update.beta1 = beta1;
  update.beta2 = beta2;
  update.epsilon = epsilon;
  auto& owner = nb::cast<PythonReducer&>(reducer);
  const Communicator& comm = nb::cast<const PythonCommunicator&>(owner.communicator).get();
  new (self) PythonOptimizer(std::make_unique<ShardedOptimizer>(owner.get(), comm, update), std::move(reducer));
}

double step(PythonOptimizer& optimizer, double learning_rate, double max_norm) {
  ShardedOptimizer& part = optimizer.get();
  const nb::gil_scoped_release without_lock;
  return part.step(learning_rate, max_norm);
}

void bind_optimizer(nb::module_& module) {
  nb::class_<PythonOptimizer> optimizer(
      module, "ShardedOptimizer",
      "An optimizer whose state is divided over the ranks, for a reducer with hook='sharding' whose parameters have "
      "values of float32 or float64. optimizer: 'sgd', 'adagrad' or 'adam'. ZeRO stage 1.");
  optimizer
      .def("__init__", make_optimizer, nb::arg("reducer"), nb::arg("optimizer") = "sgd", nb::kw_only(),
           nb::arg("momentum") = 0.0, nb::arg("nesterov") = false, nb::arg("weight_decay") = 0.0,
           nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999, nb::arg("epsilon") = 1e-8,
           nb::sig("def __init__(self, reducer: GradientReducer, optimizer: str = 'sgd', *, momentum: float = 0.0, "
                   "nesterov: bool = False, weight_decay: float = 0.0, beta1: float = 0.9, beta2: float = 0.999, "
                   "epsilon: float = 1e-08) -> None"))
      .def("step", step, nb::arg("learning_rate"), nb::arg("max_norm") = 0.0,
           "Clips by the global norm, updates this rank's parts and gathers all values; after the reducer's wait(). "
           "Returns the norm, or 0 with max_norm=0. Collective.")
      .def_prop_ro("state_bytes", [](const PythonOptimizer& o) { return o.get().state_bytes(); })
      .def(
          "save", [](PythonOptimizer& o) { return bytes_of(o.get().save()); },
          "The whole state, the same bytes on every rank. Collective.")
      .def(
          "load", [](PythonOptimizer& o, const nb::bytes& state) { o.get().load(bytes_in(state)); }, nb::arg("state"),
          "Takes the state back, on any number of ranks. Collective.");
  define_free(optimizer);
}

}  // namespace

void bind_reducer(nb::module_& module) {
  bind_statistics(module);
  nb::class_<PythonReducer> reducer(
      module, "GradientReducer",
      "Reduces the gradients of data-parallel training, in buckets, while backward still computes others. A step is: "
      "backward with ready(i) for each parameter, wait(), update. Wrong use on one rank is the same Error on every "
      "rank "
      "in wait(). hook: 'allreduce', 'bf16', 'fp16', 'sharding', or 'power_sgd' with the keywords rank, start_step, "
      "min_compression_rate, error_feedback, warm_start, seed. bucket_bytes=0 times several sizes and keeps the "
      "fastest. With blocks=B gradients have the same bits on any number of ranks R up to B: rank r marks each "
      "gradient "
      "ready once in a pass over each block r * B // R to (r + 1) * B // R of the batch. Options are equal on all "
      "ranks, but progress_thread and stream. Free it before its communicator.");
  reducer
      .def(
          "__init__", make_reducer, nb::arg("comm"), nb::kw_only(), nb::arg("bucket_bytes") = 25U << 20U,
          nb::arg("first_bucket_bytes") = 1U << 20U, nb::arg("op") = "avg", nb::arg("rebuild") = true,
          nb::arg("find_unused") = false, nb::arg("uneven") = false, nb::arg("average_active") = false,
          nb::arg("check") = false, nb::arg("communicators") = 1, nb::arg("progress_thread") = false,
          nb::arg("hook") = "allreduce", nb::arg("memory") = "host", nb::arg("stream").none() = nb::none(),
          nb::arg("blocks") = 0, nb::arg("hook_options"),
          nb::sig("def __init__(self, comm: Communicator, *, bucket_bytes: int = 26214400, first_bucket_bytes: int = "
                  "1048576, op: ReduceOp | str = 'avg', rebuild: bool = True, find_unused: bool = False, uneven: bool "
                  "= False, average_active: bool = False, check: bool = False, communicators: int = 1, "
                  "progress_thread: bool = False, hook: str = 'allreduce', memory: str = 'host', stream: Stream | None "
                  "= None, blocks: int = 0, **hook_options: typing.Any) -> None"))
      .def("add", add, nb::arg("name"), nb::arg("gradient").none() = nb::none(), nb::arg("value").none() = nb::none(),
           nb::kw_only(), nb::arg("shape") = nb::make_tuple(), nb::arg("dtype") = "float32",
           nb::sig("def add(self, name: str, gradient: Array | None = None, value: Array | None = None, *, shape: "
                   "Numbers = (), dtype: str = 'float32') -> int"),
           "Registers a parameter, in the order of the forward pass, and returns its number. gradient and value are "
           "C-contiguous arrays of float32, float64, float16 or bfloat16, which the reducer keeps: prepare() "
           "broadcasts value from rank 0. Without a gradient, which shape and dtype then describe unless there is a "
           "value, it lives in a bucket: see gradient().")
      .def("prepare", unlocked<&GradientReducer::prepare>,
           "Compares the ranks' parameters and options, broadcasts values and makes the buckets. Collective. Raises "
           "Error (MISMATCH) on every rank.")
      .def("gradient", gradient, nb::arg("i"), nb::sig("def gradient(self, i: int) -> numpy.ndarray"),
           "The gradient of parameter i as an array of NumPy, without a copy (16-bit types that NumPy lacks: uint16). "
           "Ask again when layout has changed: gradients in buckets move then.")
      .def_prop_ro(
          "layout", [](const PythonReducer& r) { return r.get().layout(); },
          "The number of times that the buckets have been laid out.")
      .def(
          "ready", [](PythonReducer& r, std::size_t i) { r.get().ready(i); }, nb::arg("i"),
          "Marks the gradient of parameter i as complete; never blocks.")
      .def(
          "progress", [](PythonReducer& r) { r.get().progress(); }, "Drives buckets that are under way.")
      .def("wait", unlocked<&GradientReducer::wait>,
           "Ends the step: the gradients are reduced. Collective. Raises Error (INVALID_ARGUMENT) on every rank for a "
           "parameter that was marked twice or not at all.")
      .def(
          "used", [](const PythonReducer& r, std::size_t i) { return r.get().used(i); }, nb::arg("i"),
          "True if any rank marked parameter i in the last step.")
      .def(
          "set_sync", [](PythonReducer& r, bool sync) { r.get().set_sync(sync); }, nb::arg("sync"),
          "Turns reduction off and on, for gradient accumulation; equal on all ranks.")
      .def("join", unlocked<&GradientReducer::join>,
           "Takes part, with zeros, in one step of the other ranks (uneven=True); False when no rank has a step left.")
      .def(
          "clip", clip, nb::arg("max_norm"),
          "Returns the 2-norm of all gradients after wait() and scales them if it is larger than max_norm. Collective.")
      .def("__len__", [](const PythonReducer& r) { return r.get().parameters(); })
      .def(
          "map", [](const PythonReducer& r) { return r.get().map(); }, "The parameter-to-bucket map as a table.")
      .def_prop_ro("statistics", [](const PythonReducer& r) { return r.get().statistics(); })
      .def(
          "save", [](const PythonReducer& r) { return bytes_of(r.get().save()); },
          "This rank's state between steps, for a checkpoint. Local.")
      .def(
          "load", [](PythonReducer& r, const nb::bytes& state) { r.get().load(bytes_in(state)); }, nb::arg("state"),
          "Takes the state back, after prepare() with the same parameters. Collective.");
  define_free(reducer);
  bind_optimizer(module);
}

}  // namespace tutti::python
