// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <tutti/parameter_server.hpp>
#include <vector>

#include "numpy_array.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// MPI_Finalize must find none: those that live, in the order in which they were made.
std::vector<ParameterServer*>& servers() {
  static auto* const all = new std::vector<ParameterServer*>;
  return *all;
}

struct PythonServer : Kept<ParameterServer> {
  using Kept::Kept;
  void free() {
    std::erase(servers(), part.get());
    Kept::free();
  }
};

void make_server(PythonServer* self, nb::object comm, std::int64_t rows, std::size_t dim, const std::string& optimizer,
                 float epsilon, bool direct) {
  ParameterServerOptions options;
  options.optimizer = named<ServerOptimizer>(optimizer, {"sgd", "row_wise_adagrad"}, "optimizer");
  options.epsilon = epsilon;
  options.direct = direct;
  auto made = nb::cast<PythonCommunicator&>(comm).run(
      [&] { return std::make_unique<ParameterServer>(nb::cast<PythonCommunicator&>(comm).get(), rows, dim, options); });
  servers().push_back(made.get());
  new (self) PythonServer(std::move(made), std::move(comm));
}

std::span<const std::int64_t> rows_in(const View& rows) {
  const Buffer& buffer = rows.contiguous("rows");
  if (buffer.type != Datatype(DatatypeKind::int64))
    throw nb::type_error("argument rows must be an array of int64: numpy.asarray(rows, numpy.int64)");
  return {static_cast<const std::int64_t*>(buffer.data), buffer.count};
}

std::span<float> values_in(const View& values, const char* argument) {
  const Buffer& buffer = values.contiguous(argument);
  if (buffer.type != Datatype(DatatypeKind::float32))
    throw nb::type_error((std::string("argument ") + argument + " must be an array of float32").c_str());
  return {static_cast<float*>(buffer.data), buffer.count};
}

nb::object pull(PythonServer& server, nb::handle rows, nb::object out) {
  const ParameterServer& part = server.get();
  const View which(rows, View::Use::read, "rows");
  const auto numbers = rows_in(which);
  if (out.is_none())
    out = nb::module_::import_("numpy").attr("empty")(nb::make_tuple(numbers.size(), part.dim()), "float32");
  const View values(out, View::Use::write, "out");
  const auto into = values_in(values, "out");
  const nb::gil_scoped_release unlocked;
  part.pull(numbers, into);
  return out;
}

void push(PythonServer& server, nb::handle rows, nb::handle gradients, float learning_rate) {
  ParameterServer& part = server.get();
  const View which(rows, View::Use::read, "rows");
  const View values(gradients, View::Use::read, "gradients");
  const auto numbers = rows_in(which);
  const auto slopes = values_in(values, "gradients");
  const nb::gil_scoped_release unlocked;
  part.push(numbers, slopes, learning_rate);
}

void fence(PythonServer& server) {
  ParameterServer& part = server.get();
  const nb::gil_scoped_release unlocked;
  part.fence();
}

nb::object local(nb::handle self) {
  ParameterServer& part = nb::cast<PythonServer&>(self).get();
  const std::span<float> values = part.local();
  return numpy_array(values.data(), DatatypeKind::float32,
                     {values.size() / std::max<std::size_t>(part.dim(), 1), part.dim()}, self);
}

}  // namespace

void free_servers() {
  for (ParameterServer* server : servers()) delete server;
  servers().clear();
}

void bind_parameter_server(nb::module_& module) {
  nb::class_<PythonServer> server(
      module, "ParameterServer",
      "A table of rows x dim float32 values, zero at first, of which each rank holds a block, and whose rows every "
      "rank "
      "reads and updates at any time. optimizer: 'sgd' or 'row_wise_adagrad'. Rows are atomic, different rows are not "
      "ordered; fence() orders. Collective. One thread of a rank at a time.");
  server
      .def("__init__", make_server, nb::arg("comm"), nb::arg("rows"), nb::arg("dim"), nb::kw_only(),
           nb::arg("optimizer") = "sgd", nb::arg("epsilon") = 1e-10F, nb::arg("direct") = true,
           nb::sig("def __init__(self, comm: Communicator, rows: int, dim: int, *, optimizer: str = 'sgd', epsilon: "
                   "float = 1e-10, direct: bool = True) -> None"))
      .def("pull", pull, nb::arg("rows"), nb::arg("out").none() = nb::none(),
           nb::sig("def pull(self, rows: Array, out: Array | None = None) -> Array"),
           "Reads rows (int64) into out, float32 of len(rows) x dim, by default a new array, and returns it. No other "
           "rank takes part. Raises Error: INDEX_OUT_OF_RANGE.")
      .def("push", push, nb::arg("rows"), nb::arg("gradients"), nb::arg("learning_rate"),
           nb::sig("def push(self, rows: Array, gradients: Array, learning_rate: float) -> None"),
           "Updates rows by gradients, float32 of len(rows) x dim; a row that occurs more than once by the sum.")
      .def("fence", fence, "Orders all operations before it, on all ranks, before all after it. Collective.")
      .def(
          "progress", [](PythonServer& s) { s.get().progress(); }, "Serves requests of other ranks; never blocks.")
      .def("local", local, nb::sig("def local(self) -> numpy.ndarray"),
           "This rank's rows, from first_row on, to fill and to save between two fences, without a copy.")
      .def_prop_ro("first_row", [](const PythonServer& s) { return s.get().first_row(); })
      .def_prop_ro(
          "path", [](const PythonServer& s) { return s.get().path(); }, "'direct' or 'mpi'.");
  define_free(server);
}

}  // namespace tutti::python
