// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/environment.hpp>

#include "handles.hpp"

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

using namespace tutti::c;

const char* tutti_version(void) { return tutti::version(); }

int tutti_progress(void) {
  return guard([] { tutti::progress(); });
}

int tutti_memory_kind(const void* address, int* kind) {
  return guard([&] { output(kind, "kind") = static_cast<int>(tutti::memory_kind(address)); });
}

const char* tutti_error_string(int code) { return tutti::error_string(static_cast<tutti::ErrorCode>(code)); }

const char* tutti_error_message(void) { return last_message().c_str(); }

int tutti_error_set(int code, const char* message) {
  return fail(static_cast<tutti::ErrorCode>(code), message != nullptr ? message : "");
}
