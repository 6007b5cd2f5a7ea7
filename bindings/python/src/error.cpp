// SPDX-License-Identifier: BSD-3-Clause
#include "error.hpp"

#include <exception>
#include <string>

namespace nb = nanobind;

namespace tutti::python {
namespace {

PyObject* error_class = nullptr;

constexpr const char* error_text =
    "The exception of every call that fails. Its text names the argument or call, the rank and the remedy; its "
    "attribute code is an ErrorCode.";

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    const nb::object value = nb::steal(PyObject_CallFunction(error_class, "s", error.what()));
    if (!value.is_valid()) return;
    nb::setattr(value, "code", nb::cast(error.code()));
    PyErr_SetObject(error_class, value.ptr());
  }
}

}  // namespace

void bind_error(nb::module_& module) {
  nb::enum_<ErrorCode> codes(module, "ErrorCode", "The kinds of failure, the same as in C++, C and Fortran.");
#define TUTTI_ERROR_CODE(name, suffix, number, text) codes.value(#suffix, ErrorCode::name, text);
#include <tutti/error_codes.def>
#undef TUTTI_ERROR_CODE
  error_class = PyErr_NewExceptionWithDoc("tutti.Error", error_text, PyExc_RuntimeError, nullptr);
  if (error_class == nullptr) nb::raise_python_error();
  nb::setattr(error_class, "code", nb::cast(ErrorCode::internal));
  module.attr("Error") = nb::borrow(error_class);
  nb::register_exception_translator(translate);
}

bool leaves_buffers_in_use(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::mpi:
    case ErrorCode::timeout:
    case ErrorCode::aborted:
    case ErrorCode::out_of_memory:
    case ErrorCode::mismatch:
    case ErrorCode::cuda:
    case ErrorCode::nccl:
    case ErrorCode::internal:
    case ErrorCode::peer_died:
      return true;
    default:
      return false;
  }
}

}  // namespace tutti::python
