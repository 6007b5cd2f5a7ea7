// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "open_mpi/arguments.hpp"

#ifdef OPEN_MPI

namespace tutti::preload {

/// Calls a C function with the arguments of a procedure of Fortran, of which the last is ierror.
template <typename... Parameters, typename... Addresses>
void call_from_fortran(int (*function)(Parameters...), Addresses*... addresses) {
  static_assert(sizeof...(Addresses) == sizeof...(Parameters) + 1, "the number of arguments without ierror");
  const std::array<void*, sizeof...(Addresses)> all{addresses...};
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<Argument<Parameters>...> arguments{Argument<Parameters>(all[I])...};
    const int code = function(std::get<I>(arguments).get()...);
    (std::get<I>(arguments).end(code), ...);
    return code;
  };
  const int code = call(std::index_sequence_for<Parameters...>());
  if (all.back() != nullptr) *static_cast<MPI_Fint*>(all.back()) = code;
}

}  // namespace tutti::preload

/// TUTTI_MPI_FORTRAN(6, allreduce, MPI_Allreduce): defines the procedure of six arguments and ierror under the name by
/// which the module mpi_f08 calls it, and under those that compilers make of its own.
#define TUTTI_MPI_FORTRAN(N, lower, function)                                      \
  extern "C" {                                                                     \
  void ompi_##lower##_f(TUTTI_MPI_ARGUMENTS_##N(void*) void* ierror) {             \
    tutti::preload::call_from_fortran(function, TUTTI_MPI_ARGUMENTS_##N() ierror); \
  }                                                                                \
  TUTTI_MPI_COMPILED(N, lower, mpi_##lower)                                        \
  }
/// The same for a procedure with logical arguments, which the module mpi_f08 calls by its profiling name.
#define TUTTI_MPI_FORTRAN_LOGICAL(N, lower, function) \
  TUTTI_MPI_FORTRAN(N, lower, function)               \
  extern "C" {                                        \
  TUTTI_MPI_COMPILED(N, lower, pmpi_##lower)          \
  }

#define TUTTI_MPI_COMPILED(N, lower, name) \
  TUTTI_MPI_ALSO(N, lower, name)           \
  TUTTI_MPI_ALSO(N, lower, name##_)        \
  TUTTI_MPI_ALSO(N, lower, name##__)
#define TUTTI_MPI_ALSO(N, lower, name) \
  void name(TUTTI_MPI_ARGUMENTS_##N(void*) void* ierror) __attribute__((alias("ompi_" #lower "_f")));

/// Arguments before another one, each behind a type or without it.
#define TUTTI_MPI_ARGUMENTS_0(type)
#define TUTTI_MPI_ARGUMENTS_1(type) TUTTI_MPI_ARGUMENTS_0(type) type a1,
#define TUTTI_MPI_ARGUMENTS_2(type) TUTTI_MPI_ARGUMENTS_1(type) type a2,
#define TUTTI_MPI_ARGUMENTS_3(type) TUTTI_MPI_ARGUMENTS_2(type) type a3,
#define TUTTI_MPI_ARGUMENTS_4(type) TUTTI_MPI_ARGUMENTS_3(type) type a4,
#define TUTTI_MPI_ARGUMENTS_5(type) TUTTI_MPI_ARGUMENTS_4(type) type a5,
#define TUTTI_MPI_ARGUMENTS_6(type) TUTTI_MPI_ARGUMENTS_5(type) type a6,
#define TUTTI_MPI_ARGUMENTS_7(type) TUTTI_MPI_ARGUMENTS_6(type) type a7,
#define TUTTI_MPI_ARGUMENTS_8(type) TUTTI_MPI_ARGUMENTS_7(type) type a8,
#define TUTTI_MPI_ARGUMENTS_9(type) TUTTI_MPI_ARGUMENTS_8(type) type a9,
#define TUTTI_MPI_ARGUMENTS_10(type) TUTTI_MPI_ARGUMENTS_9(type) type a10,
#define TUTTI_MPI_ARGUMENTS_11(type) TUTTI_MPI_ARGUMENTS_10(type) type a11,
#define TUTTI_MPI_ARGUMENTS_12(type) TUTTI_MPI_ARGUMENTS_11(type) type a12,

#endif
