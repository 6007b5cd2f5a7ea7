// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string>
#include <tutti/buffer.hpp>
#include <tutti/call_site.hpp>
#include <tutti/environment.hpp>
#include <tutti/range.hpp>

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

void throw_misuse(ErrorCode code, const std::string& problem) {
  int rank = 0;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  const bool has_rank = initialized != 0 && finalized == 0 && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS;
  throw Error(code, has_rank ? fmt::format("rank {} of MPI_COMM_WORLD: {}", rank, problem) : problem);
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

int tutti_at(const char* file, int line, const char* function) {
  tutti::at(file, line, function);
  return TUTTI_SUCCESS;
}

int tutti_range_push(const char* name) {
  return guard([&] {
    if (name == nullptr)
      throw_misuse(tutti::ErrorCode::invalid_argument, "tutti_range_push: argument name is NULL; pass a text");
    tutti::range_push(name);
  });
}

int tutti_range_pop(void) {
  return guard([] { tutti::range_pop(); });
}

const char* tutti_error_string(int code) { return tutti::error_string(static_cast<tutti::ErrorCode>(code)); }

const char* tutti_error_message(void) { return last_message().c_str(); }

int tutti_error_set(int code, const char* message) {
  return fail(static_cast<tutti::ErrorCode>(code), message != nullptr ? message : "");
}
