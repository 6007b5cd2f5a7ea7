// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>
#include <tutti/detail/export.hpp>

namespace tutti {

/// The kinds of failure. C++, C and Fortran share one list, error_codes.def.
enum class ErrorCode : int {
#define TUTTI_ERROR_CODE(name, suffix, value, text) name = value,
#include <tutti/error_codes.def>
#undef TUTTI_ERROR_CODE
};

/// The short text of a code; "unknown error" for an unknown value. Counterpart: MPI_Error_string.
[[nodiscard]] TUTTI_EXPORT const char* error_string(ErrorCode code) noexcept;

/// The exception of every call that fails. Its text names the argument, the rank and the remedy.
class TUTTI_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tutti
