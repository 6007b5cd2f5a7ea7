// SPDX-License-Identifier: BSD-3-Clause
// Sums that do not depend on the number of ranks.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <tutti/exact.hpp>

#include "calls.hpp"
#include "element_types.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

TUTTI_PYTHON_CALL(exact_sum)
TUTTI_PYTHON_CALL(exact_dot)
TUTTI_PYTHON_CALL(exact_norm2)

using Use = View::Use;

/// The terms of a sum; None is no weights, and no mask. The views are held.
ExactTerms terms_from(Held& held, nb::handle values, nb::handle weights, nb::handle mask) {
  held.first = View(values, Use::read, "values");
  ExactTerms terms(held.first.input());
  const auto more = [&held](nb::handle array, const char* argument) {
    return held.more.emplace_back(array, Use::read, argument).input();
  };
  if (!weights.is_none()) terms.weights = more(weights, "weights");
  if (!mask.is_none()) terms.mask = more(mask, "mask");
  return terms;
}

Buffer results_in(Held& held, nb::handle results, const char* argument) {
  held.second = View(results, Use::write, argument);
  return held.second.output();
}

void define_sum(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object values, nb::object sums, nb::object weights, nb::object mask,
                  const nb::kwargs& options) {
      Held held;
      const ExactTerms terms = terms_from(held, values, weights, mask);
      return make_call<exact_sum_call>(form, comm, held, sums, terms, results_in(held, sums, "sums"),
                                       options_from(options));
    };
  };
  define_forms<exact_sum_call>(
      communicator,
      {"values: Array, sums: Array, weights: Array | None = None, mask: Array | None = None", "Array",
       "Sums the elements of all ranks without rounding, and rounds once: the same bits for every number of ranks, "
       "distribution and order. Collective. sums: an element for each field; values: all fields, one after the other, "
       "of as many elements each, whose number may differ between ranks; weights, mask: an element for each value, or "
       "for those of one field. Values are float64, float32, float16, bfloat16 or complex. Returns sums. Raises Error: "
       "INVALID_ARGUMENT, INVALID_DATATYPE, NOT_SUPPORTED (device memory), TIMEOUT, ABORTED, MPI."},
      body, nb::arg("values"), nb::arg("sums"), nb::arg("weights").none() = nb::none(),
      nb::arg("mask").none() = nb::none());
}

void define_dot(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object x, nb::object y, nb::object dots, nb::object mask,
                  const nb::kwargs& options) {
      Held held;
      const ExactTerms terms = terms_from(held, x, nb::none(), mask);
      const ConstBuffer other = held.more.emplace_back(y, Use::read, "y").input();
      return make_call<exact_dot_call>(form, comm, held, dots, terms, other, results_in(held, dots, "dots"),
                                       options_from(options));
    };
  };
  define_forms<exact_dot_call>(
      communicator,
      {"x: Array, y: Array, dots: Array, mask: Array | None = None", "Array",
       "The sum of conj(x) * y over all ranks, rounded once, as exact_sum. Collective. Returns dots."},
      body, nb::arg("x"), nb::arg("y"), nb::arg("dots"), nb::arg("mask").none() = nb::none());
}

void define_norm(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object values, nb::object norms, nb::object mask,
                  const nb::kwargs& options) {
      Held held;
      const ExactTerms terms = terms_from(held, values, nb::none(), mask);
      return make_call<exact_norm2_call>(form, comm, held, norms, terms, results_in(held, norms, "norms"),
                                         options_from(options));
    };
  };
  define_forms<exact_norm2_call>(
      communicator,
      {"values: Array, norms: Array, mask: Array | None = None", "Array",
       "The square root of the sum of abs(values)**2 over all ranks, rounded once. Collective. Returns norms, which "
       "are real."},
      body, nb::arg("values"), nb::arg("norms"), nb::arg("mask").none() = nb::none());
}

nb::object mean(PythonCommunicator& comm, nb::object values, nb::object means, nb::object weights, nb::object mask,
                const nb::kwargs& keywords) {
  Held held;
  const ExactTerms terms = terms_from(held, values, weights, mask);
  const Buffer results = results_in(held, means, "means");
  const Options options = options_from(keywords);
  comm.run(held, [&] { exact_mean(comm.get(), terms, results, options); });
  return means;
}

std::pair<double, double> variance(PythonCommunicator& comm, nb::object values, nb::object weights, nb::object mask,
                                   const nb::kwargs& keywords) {
  Held held;
  const ExactTerms terms = terms_from(held, values, weights, mask);
  const Options options = options_from(keywords);
  std::pair<double, double> result;
  comm.run(held,
           [&] { exact_variance(comm.get(), terms, Buffer(&result.first, 1), Buffer(&result.second, 1), options); });
  return result;
}

using Location = Float64Int64 (*)(const Communicator&, const ExactTerms&, std::int64_t, const Options&);

template <Location Locate>
std::pair<double, std::int64_t> location(PythonCommunicator& comm, nb::object values, std::int64_t first_index,
                                         nb::object mask, const nb::kwargs& keywords) {
  Held held;
  const ExactTerms terms = terms_from(held, values, nb::none(), mask);
  const Options options = options_from(keywords);
  const Float64Int64 found = comm.run(held, [&] { return Locate(comm.get(), terms, first_index, options); });
  return {found.value, found.index};
}

void define_moments(CommunicatorClass& communicator) {
  communicator.def("exact_mean", mean, nb::arg("values"), nb::arg("means"), nb::arg("weights").none() = nb::none(),
                   nb::arg("mask").none() = nb::none(), nb::arg("options"),
                   nb::sig("def exact_mean(self, values: Array, means: Array, weights: Array | None = None, mask: "
                           "Array | None = None, **options: Unpack[Options]) -> Array"),
                   "The means of the fields, by the weights if there are any; as exact_sum. Collective, blocking.");
  communicator.def("exact_variance", variance, nb::arg("values"), nb::arg("weights").none() = nb::none(),
                   nb::arg("mask").none() = nb::none(), nb::arg("options"),
                   nb::sig("def exact_variance(self, values: Array, weights: Array | None = None, mask: Array | None = "
                           "None, **options: Unpack[Options]) -> tuple[float, float]"),
                   "The mean and the variance of the population of one field. Collective, blocking.");
}

void define_locations(CommunicatorClass& communicator) {
  communicator.def("exact_minloc", location<exact_minloc>, nb::arg("values"), nb::arg("first_index"),
                   nb::arg("mask").none() = nb::none(), nb::arg("options"),
                   nb::sig("def exact_minloc(self, values: Array, first_index: int, mask: Array | None = None, "
                           "**options: Unpack[Options]) -> tuple[float, int]"),
                   "The smallest element of all ranks and its index, the first of equal ones; first_index is that of "
                   "this rank's first element. NaN and -1 if there is none. Collective, blocking.");
  communicator.def("exact_maxloc", location<exact_maxloc>, nb::arg("values"), nb::arg("first_index"),
                   nb::arg("mask").none() = nb::none(), nb::arg("options"),
                   nb::sig("def exact_maxloc(self, values: Array, first_index: int, mask: Array | None = None, "
                           "**options: Unpack[Options]) -> tuple[float, int]"),
                   "The largest element, as exact_minloc. Collective, blocking.");
}

void add(ExactSum& sum, nb::object values, nb::object weights, nb::object mask) {
  Held held;
  sum.add(terms_from(held, values, weights, mask));
}

ExactSum total(PythonCommunicator& comm, const ExactSum& sum, const nb::kwargs& keywords) {
  const Options options = options_from(keywords);
  ExactSum result = sum;
  comm.run([&] { exact_allreduce(comm.get(), {&result, 1}, options); });
  return result;
}

}  // namespace

void bind_exact(nb::module_& module, CommunicatorClass& communicator) {
  nb::class_<ExactSum>(
      module, "ExactSum",
      "A sum that is not rounded until it is asked for: filled piece by piece, combined with others by "
      "+=, and summed over ranks by Communicator.exact_total.")
      .def(nb::init<>())
      .def("add", add, nb::arg("values"), nb::arg("weights").none() = nb::none(), nb::arg("mask").none() = nb::none(),
           nb::sig("def add(self, values: Array, weights: Array | None = None, mask: Array | None = None) -> None"),
           "Adds elements of one field, or their products with weights.")
      .def(
          "__iadd__", [](ExactSum& sum, const ExactSum& other) -> ExactSum& { return sum += other; },
          nb::rv_policy::none, nb::sig("def __iadd__(self, other: ExactSum) -> Self"))
      .def(
          "rounded",
          [](const ExactSum& sum, const std::string& type) { return sum.rounded(type_of_name(type).kind()); },
          nb::arg("type") = "float64", "The sum, rounded to float64, float32, float16 or bfloat16.")
      .def("__float__", [](const ExactSum& sum) { return sum.rounded(); });
  define_sum(communicator);
  define_dot(communicator);
  define_norm(communicator);
  define_moments(communicator);
  define_locations(communicator);
  communicator.def("exact_total", total, nb::arg("sum"), nb::arg("options"),
                   nb::sig("def exact_total(self, sum: ExactSum, **options: Unpack[Options]) -> ExactSum"),
                   "The sum of those of all ranks. Collective, blocking.");
}

}  // namespace tutti::python
