// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <tutti/error.hpp>

namespace tutti::preload {
namespace {

int class_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_communicator:
      return MPI_ERR_COMM;
    case ErrorCode::invalid_datatype:
      return MPI_ERR_TYPE;
    case ErrorCode::invalid_op:
      return MPI_ERR_OP;
    case ErrorCode::invalid_request:
      return MPI_ERR_REQUEST;
    case ErrorCode::truncated:
    case ErrorCode::mismatch:
      return MPI_ERR_TRUNCATE;
    case ErrorCode::out_of_memory:
      return MPI_ERR_NO_MEM;
    case ErrorCode::invalid_argument:
      return MPI_ERR_ARG;
    default:
      return MPI_ERR_OTHER;
  }
}

/// The text of the last failure of this thread. MPICH 4.0 gives codes of its own classes other texts than one's own, so
/// that the code is the class.
std::string& last_text() {
  thread_local std::string text;
  return text;
}

int code_with(int error_class, const char* text) {
  last_text() = text;
  return error_class;
}

/// Whether the program is about to end by this error, with the MPI's text of its class.
bool is_fatal(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool result = handler == MPI_ERRORS_ARE_FATAL;
  PMPI_Errhandler_free(&handler);
  return result;
}

}  // namespace

int code_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return code_of(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return code_with(MPI_ERR_NO_MEM, "memory ran out");
  } catch (const std::exception& error) {
    return code_with(MPI_ERR_INTERN, error.what());
  }
}

int code_of(ErrorCode code, const std::string& text) { return code_with(class_of(code), text.c_str()); }

int raise(MPI_Comm comm, int code) {
  if (code == MPI_SUCCESS) return code;
  if (is_fatal(comm)) std::fprintf(stderr, "tutti-mpi: %s\n", last_text().c_str());
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::preload
