// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <string>

#include "guard.hpp"

namespace tutti::c {
namespace {

std::string& last_message() {
  thread_local std::string message;
  return message;
}

}  // namespace

int fail(ErrorCode code, const char* message) noexcept {
  try {
    last_message() = message;
  } catch (...) {
    last_message().clear();
  }
  return static_cast<int>(code);
}

}  // namespace tutti::c

const char* tutti_error_string(int code) { return tutti::error_string(static_cast<tutti::ErrorCode>(code)); }

const char* tutti_error_message(void) { return tutti::c::last_message().c_str(); }

int tutti_error_set(int code, const char* message) {
  return tutti::c::fail(static_cast<tutti::ErrorCode>(code), message != nullptr ? message : "");
}
