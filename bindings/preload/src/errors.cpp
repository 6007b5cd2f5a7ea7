// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

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

/// A code of a class with a text of its own.
int code_with(int error_class, const std::string& text) {
  int code = error_class;
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  return code;
}

}  // namespace

int code_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return code_with(class_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    return code_with(MPI_ERR_INTERN, error.what());
  }
}

int raise(MPI_Comm comm, int code) {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::preload
