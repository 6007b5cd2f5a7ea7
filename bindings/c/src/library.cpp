// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <tutti/buffer.hpp>
#include <tutti/environment.hpp>

#include "handles.hpp"

using namespace tutti::c;

const char* tutti_version(void) { return tutti::version(); }

int tutti_progress(void) {
  return guard([] { tutti::progress(); });
}

int tutti_memory_kind(const void* address, int* kind) {
  return guard([&] { output(kind, "kind") = static_cast<int>(tutti::memory_kind(address)); });
}
