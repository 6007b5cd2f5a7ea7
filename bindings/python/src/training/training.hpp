// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <tutti/error.hpp>

#include "communicator.hpp"
#include "view.hpp"

namespace tutti::python {

/// A part of training that a program frees by free() or a with statement, because that is collective: one that is
/// dropped lives on. Keeps its communicator.
template <typename Part>
struct Kept {
  std::unique_ptr<Part> part;
  nanobind::object communicator;

  Kept(std::unique_ptr<Part> made, nanobind::object comm) : part(std::move(made)), communicator(std::move(comm)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { (void)part.release(); }

  [[nodiscard]] Part& get() const {
    if (!part) throw Error(ErrorCode::invalid_argument, "this object has been freed; make another one");
    return *part;
  }
  void free() {
    const nanobind::gil_scoped_release unlocked;
    part.reset();
  }
};

/// The value of a name among those of an enum, in the order of their numbers from 0 on.
template <typename Enum, std::size_t n>
Enum named(const std::string& name, const char* const (&names)[n], const char* argument) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
    all += (i == 0 ? "'" : ", '") + std::string(names[i]) + "'";
  }
  throw Error(ErrorCode::invalid_argument,
              std::string("argument ") + argument + " is '" + name + "'; pass one of " + all);
}

/// free() and the with statement.
template <typename Class>
void define_free(Class& part) {
  using Object = typename Class::Type;
  part.def(
          "free", [](Object& object) { object.free(); }, "Frees the object; later calls of it raise Error. Collective.")
      .def(
          "__enter__", [](nanobind::object self) { return self; }, nanobind::sig("def __enter__(self) -> Self"))
      .def(
          "__exit__",
          [](Object& object, nanobind::handle type, nanobind::handle, nanobind::handle) {
            if (type.is_none()) object.free();
          },
          nanobind::arg("type").none(), nanobind::arg("value").none(), nanobind::arg("traceback").none(),
          nanobind::sig("def __exit__(self, type: typing.Any, value: typing.Any, traceback: typing.Any) -> None"));
}

/// Frees the servers that the program has not, in the order in which they were made. Collective.
void free_servers();

void bind_reducer(nanobind::module_& module);
void bind_embeddings(nanobind::module_& module);
void bind_parameter_server(nanobind::module_& module);

}  // namespace tutti::python
