// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

/// Open MPI 5 says that it is of MPI 3.1.
#ifdef OPEN_MPI
#define TUTTI_TEST_HAS_PERSISTENT (OMPI_MAJOR_VERSION >= 5)
#else
#define TUTTI_TEST_HAS_PERSISTENT (MPI_VERSION >= 4)
#endif

namespace tutti::test {

enum class Form { blocking, nonblocking, persistent };

/// Runs prepare(round), makes a call in one of its forms, runs look(round); a persistent call twice.
template <typename Prepare, typename Blocking, typename Nonblocking, typename Init, typename Look>
void make_call(Form form, Prepare prepare, Blocking blocking, Nonblocking nonblocking, Init init, Look look) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == Form::persistent) init(&request);
  for (int round = 0; round < 2; ++round) {
    prepare(round);
    if (form == Form::blocking) blocking();
    if (form == Form::nonblocking) nonblocking(&request);
    if (form == Form::persistent) MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    look(round);
  }
  if (form == Form::persistent) MPI_Request_free(&request);
}

}  // namespace tutti::test

#if TUTTI_TEST_HAS_PERSISTENT
#define TUTTI_TEST_INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define TUTTI_TEST_INIT(Name, ...) static_cast<void>(request)
#endif
#if MPI_VERSION >= 4
#define TUTTI_TEST_LARGE(...) __VA_ARGS__
#else
#define TUTTI_TEST_LARGE(...)
#endif
/// TUTTI_TEST_CALL(Suffix, form, prepare, look, Bcast, bcast, arguments with the communicator...)
#define TUTTI_TEST_CALL(form, prepare, look, Name, lower, ...)           \
  make_call(                                                             \
      form, prepare, [&] { MPI_##Name(__VA_ARGS__); },                   \
      [&](MPI_Request* request) { MPI_I##lower(__VA_ARGS__, request); }, \
      [&](MPI_Request* request) { TUTTI_TEST_INIT(Name, __VA_ARGS__); }, look)
