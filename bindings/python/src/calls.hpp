// SPDX-License-Identifier: BSD-3-Clause
// The three forms of a collective in Python: comm.allreduce, comm.iallreduce, comm.allreduce_init.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <tutti/options.hpp>
#include <utility>

#include "arguments.hpp"
#include "communicator.hpp"
#include "operation.hpp"

namespace tutti::python {

struct BlockingForm {};
struct NonblockingForm {};
struct PersistentForm {};

/// The functions of a collective of the library as a type; the forms differ by the tag.
#define TUTTI_PYTHON_CALL(call)                                  \
  struct call##_call {                                           \
    static constexpr const char* name = #call;                   \
    template <typename... A>                                     \
    static void make(BlockingForm, const A&... a) {              \
      tutti::call(a...);                                         \
    }                                                            \
    template <typename... A>                                     \
    static tutti::Request make(NonblockingForm, const A&... a) { \
      return tutti::i##call(a...);                               \
    }                                                            \
    template <typename... A>                                     \
    static tutti::Request make(PersistentForm, const A&... a) {  \
      return tutti::call##_init(a...);                           \
    }                                                            \
  };

/// Makes a call of the library and returns `result`, or the request whose wait() returns it. The arguments of the
/// library come from `held`, which lives as long as the operation.
template <typename Call, typename... A>
nanobind::object make_call(BlockingForm form, PythonCommunicator& comm, Held& held, nanobind::object result,
                           const A&... arguments) {
  comm.run(held, [&] { Call::make(form, comm.get(), arguments...); });
  return result;
}
template <typename Call, typename Form, typename... A>
nanobind::object make_call(Form form, PythonCommunicator& comm, Held& held, nanobind::object result,
                           const A&... arguments) {
  Request request = comm.run(held, [&] { return Call::make(form, comm.get(), arguments...); });
  return nanobind::cast(new PythonRequest(std::move(request), std::move(held), std::move(result)),
                        nanobind::rv_policy::take_ownership);
}

/// The texts of a method for stubs and help(): `parameters` without self and options.
struct Texts {
  std::string parameters;
  std::string returns;
  std::string description;
};

/// Defines the three forms by a functor that takes the form's tag.
template <typename Call, typename Body, typename... Extra>
void define_forms(CommunicatorClass& communicator, const Texts& texts, Body body, const Extra&... extra) {
  const std::string name = Call::name;
  const std::string options = ", **options: Unpack[Options]) -> ";
  const std::string head = "(self" + (texts.parameters.empty() ? "" : ", " + texts.parameters) + options;
  const auto define = [&](auto form, const std::string& method, const std::string& returns, const std::string& text) {
    const std::string signature = "def " + method + head + returns;
    communicator.def(method.c_str(), body(form), extra..., nanobind::arg("options"), nanobind::sig(signature.c_str()),
                     text.c_str());
  };
  define(BlockingForm{}, name, texts.returns, texts.description);
  define(NonblockingForm{}, "i" + name, "Request",
         "Nonblocking form of " + name + ": the arrays must not be touched until the request is done.");
  define(PersistentForm{}, name + "_init", "Request",
         "Persistent form of " + name + ": binds the arrays; each start() of the request runs it again.");
}

}  // namespace tutti::python
