// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

namespace tutti {

const char* error_string(ErrorCode code) noexcept {
  switch (code) {
#define TUTTI_ERROR_CODE(name, suffix, value, text) \
  case ErrorCode::name:                             \
    return text;
#include <tutti/error_codes.def>
#undef TUTTI_ERROR_CODE
  }
  return "unknown error";
}

}  // namespace tutti
