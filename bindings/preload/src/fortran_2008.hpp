// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#ifdef MPICH_VERSION

namespace tutti::preload {

/// Calls the procedure of a name that this library hides.
template <typename... Arguments>
void call_hidden(const char* name, Arguments*... arguments) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): a function by its name
  const auto hidden = reinterpret_cast<void (*)(Arguments * ...)>(dlsym(RTLD_NEXT, name));
  hidden(arguments...);
}

inline void set(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

}  // namespace tutti::preload

#endif
