// SPDX-License-Identifier: BSD-3-Clause
#include "communicator.hpp"

#include <mpi.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tutti/algorithms.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/point_to_point.hpp>
#include <vector>

#include "arguments.hpp"
#include "element_types.hpp"
#include "fortran_handles.h"
#include "operation.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

CheckMode check_from(const std::string& name) {
  if (name == "off") return CheckMode::off;
  if (name == "calls") return CheckMode::calls;
  if (name == "bytes") return CheckMode::bytes;
  throw Error(ErrorCode::invalid_argument, "argument check is '" + name + "'; pass 'off', 'calls' or 'bytes'");
}

void make_communicator(PythonCommunicator* self, nb::handle comm, nb::handle timeout, bool reproducible,
                       bool native_blocking, const std::string& name, const std::string& check) {
  const CommunicatorOptions options{duration_from(timeout), reproducible, native_blocking, name, check_from(check)};
  const MPI_Comm handle = mpi_communicator_from(comm);
  Held nothing;
  new (self) PythonCommunicator(without_lock(nothing, [&] { return Communicator::duplicate(handle, options); }));
}

PythonCommunicator* duplicate(PythonCommunicator& comm) {
  return new PythonCommunicator(comm.run([&] {
    const Communicator& own = comm.get();
    return own.split(0, own.rank());
  }));
}

nb::object split(PythonCommunicator& comm, nb::handle color, int key) {
  const int number = color.is_none() ? MPI_UNDEFINED : value_from<int>(color, "color", "an integer or None");
  Communicator part = comm.run([&] { return comm.get().split(number, key); });
  if (!part.valid()) return nb::none();
  return nb::cast(new PythonCommunicator(std::move(part)), nb::rv_policy::take_ownership);
}

std::string describe(const PythonCommunicator& comm) {
  if (!comm.get().valid()) return "tutti.Communicator(freed)";
  return "tutti.Communicator(rank=" + std::to_string(comm.get().rank()) +
         ", size=" + std::to_string(comm.get().size()) + ")";
}

ReduceKind kind_of(nb::handle op) { return operation_from(op).op.kind(); }

CallForm form_from(const std::string& name) {
  if (name == "blocking") return CallForm::blocking;
  if (name == "nonblocking") return CallForm::nonblocking;
  if (name == "persistent") return CallForm::persistent;
  throw Error(ErrorCode::invalid_argument,
              "argument form is '" + name + "'; pass 'blocking', 'nonblocking' or 'persistent'");
}

std::vector<CallAlgorithm> list_algorithms(const PythonCommunicator& comm, const std::string& operation,
                                           std::size_t count, const std::string& dtype, nb::handle op, int root,
                                           const std::string& form, const std::string& memory) {
  CallFacts facts;
  facts.form = form_from(form);
  facts.memory = memory_from(nb::str(memory.c_str()));
  facts.type = type_of_name(dtype);
  facts.op = kind_of(op);
  facts.count = count;
  facts.root = root;
  return algorithms(comm.get(), operation, facts);
}

void bind_topology(nb::module_& module) {
  nb::class_<Place>(module, "Place", "The place of one rank; indices are -1 if the rank is not bound to one object.")
      .def_ro("node", &Place::node)
      .def_ro("local_rank", &Place::local_rank)
      .def_ro("numa", &Place::numa)
      .def_ro("l3", &Place::l3)
      .def_ro("core", &Place::core)
      .def_ro("cores_allowed", &Place::cores_allowed)
      .def_ro("socket", &Place::socket);
  nb::class_<Topology>(module, "Topology", "The machine under a communicator, equal on all ranks.")
      .def_ro("nodes", &Topology::nodes)
      .def_ro("places", &Topology::places, "One Place per rank.")
      .def_ro("ranks_per_node", &Topology::ranks_per_node)
      .def_ro("cores_per_node", &Topology::cores_per_node)
      .def_ro("host_names", &Topology::host_names, "One per node.")
      .def_ro("network_groups", &Topology::network_groups,
              "The groups of the network that each node lies in: a list for each level, the largest groups first, with "
              "the number of each node's group. Empty if unknown.")
      .def_ro("network_source", &Topology::network_source, "What named them; empty: nothing.")
      .def_ro("oversubscribed", &Topology::oversubscribed,
              "True if a node, or nodes that one kernel runs, have more ranks than processing units.");
  nb::class_<CallAlgorithm>(module, "CallAlgorithm", "One way to make a call.")
      .def_ro("name", &CallAlgorithm::name, "For the option algorithm.")
      .def_ro("why_not", &CallAlgorithm::why_not, "Why the library does not choose it by itself; empty if it can.")
      .def_ro("can_be_named", &CallAlgorithm::can_be_named)
      .def("__repr__", [](const CallAlgorithm& a) { return "tutti.CallAlgorithm('" + a.name + "')"; });
}

void define_parts(CommunicatorClass& communicator) {
  communicator
      .def("dup", duplicate, nb::rv_policy::take_ownership,
           "Makes another communicator of the same ranks and options. Collective, blocking.")
      .def("split", split, nb::arg("color").none(), nb::arg("key") = 0,
           nb::sig("def split(self, color: int | None, key: int = 0) -> Communicator | None"),
           "Makes one communicator for each colour, its ranks ordered by key, then by rank; None for ranks that pass "
           "color=None. Collective, blocking.")
      .def(
          "split_by_node",
          [](PythonCommunicator& comm) {
            return new PythonCommunicator(comm.run([&] { return comm.get().split_by_node(); }));
          },
          nb::rv_policy::take_ownership, "Makes one communicator for the ranks of each node. Collective, blocking.")
      .def(
          "shrink",
          [](PythonCommunicator& comm) {
            return new PythonCommunicator(comm.run([&] { return comm.get().shrink(); }));
          },
          nb::rv_policy::take_ownership,
          "Makes a communicator of the ranks that live on, after calls have failed with PEER_DIED. Collective over "
          "these, blocking.")
      .def("free", &PythonCommunicator::free,
           "Frees the communicator; later calls of it raise Error. Collective. A communicator that is dropped without "
           "it lives until MPI_Finalize.")
      .def(
          "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Communicator"))
      .def(
          "__exit__",
          [](PythonCommunicator& comm, nb::handle type, nb::handle, nb::handle) {
            // Freeing is collective, and the ranks without an exception may be elsewhere.
            if (type.is_none()) comm.free();
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          nb::sig("def __exit__(self, type: typing.Any, value: typing.Any, traceback: typing.Any) -> None"));
}

void define_facts(CommunicatorClass& communicator) {
  communicator.def_prop_ro("rank", [](const PythonCommunicator& comm) { return comm.get().rank(); })
      .def_prop_ro("size", [](const PythonCommunicator& comm) { return comm.get().size(); })
      .def_prop_ro("name", [](const PythonCommunicator& comm) { return comm.get().options().name; })
      .def_prop_ro(
          "topology", [](const PythonCommunicator& comm) { return comm.get().topology(); },
          "The nodes and cores of the ranks.")
      .def_prop_ro(
          "fortran_handle",
          [](PythonCommunicator& comm) {
            return static_cast<long>(TUTTI_COMM_TO_FORTRAN(comm.run([&] { return comm.get().mpi_handle(); })));
          },
          "The integer handle of Fortran for the caller's own MPI calls: mpi4py.MPI.Comm.f2py(comm.fortran_handle). "
          "Beyond 64 duplicates and parts its first use is collective.")
      .def(
          "prepare_device", [](PythonCommunicator& comm) { comm.run([&] { comm.get().prepare_device(); }); },
          "Prepares the communicator for device memory, and sets NCCL up. Collective, blocking. Raises Error: "
          "NOT_BUILT for a library without CUDA, MISMATCH.")
      .def(
          "device_report", [](const PythonCommunicator& comm) { return comm.get().device_report(); },
          "Lists the facilities that calls on device memory use, and why others are not used. Local.")
      .def("abort", &PythonCommunicator::abort, nb::arg("reason") = "",
           "Ends all outstanding and later calls on this communicator with Error (ABORTED), on the other ranks too. "
           "Local; may be called from any thread.")
      .def("algorithms", list_algorithms, nb::arg("operation"), nb::arg("count") = 1, nb::arg("dtype") = "float32",
           nb::arg("op") = "sum", nb::arg("root") = 0, nb::arg("form") = "blocking", nb::arg("memory") = "host",
           nb::sig("def algorithms(self, operation: str, count: int = 1, dtype: str = 'float32', op: ReduceOp | str = "
                   "'sum', root: int = 0, form: str = 'blocking', memory: str = 'host') -> list[CallAlgorithm]"),
           "Lists the ways to make a call of operation ('allreduce'): the library's own choice first, then those that "
           "it can choose, then the rest. count is the call's (v-forms: the sum). Local.")
      .def("__repr__", describe);
}

}  // namespace

PythonCommunicator::~PythonCommunicator() {
  if (!communicator_.valid()) return;
  static auto* const dropped = new std::vector<Communicator>;
  dropped->push_back(std::move(communicator_));
}

void PythonCommunicator::free() {
  run([this] { communicator_ = Communicator(); });
}

CommunicatorClass bind_communicator(nb::module_& module) {
  bind_topology(module);
  module.attr("ANY_SOURCE") = any_source;
  module.attr("ANY_TAG") = any_tag;
  module.attr("PROC_NULL") = proc_null;
  CommunicatorClass communicator(
      module, "Communicator",
      "A group of ranks that communicate. Made of an mpi4py communicator, an integer handle of Fortran, or None for "
      "MPI_COMM_WORLD (initialising MPI if need be); its messages never meet the caller's. Collective. One thread at a "
      "time may use it. Keywords, equal on all ranks: timeout (seconds, of every call that sets none), reproducible, "
      "native_blocking, name (in messages), check ('off', 'calls', 'bytes'). Free it by free() or a with statement, "
      "which are collective; otherwise MPI_Finalize does. Raises Error: MISMATCH if mpi4py uses another MPI library.");
  communicator.def("__init__", make_communicator, nb::arg("comm").none() = nb::none(), nb::kw_only(),
                   nb::arg("timeout").none() = nb::none(), nb::arg("reproducible") = false,
                   nb::arg("native_blocking") = false, nb::arg("name") = "", nb::arg("check") = "off",
                   nb::sig("def __init__(self, comm: typing.Any = None, *, timeout: float | None = None, reproducible: "
                           "bool = False, native_blocking: bool = False, name: str = '', check: str = 'off') -> None"));
  define_parts(communicator);
  define_facts(communicator);
  return communicator;
}

}  // namespace tutti::python
