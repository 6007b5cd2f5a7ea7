// SPDX-License-Identifier: BSD-3-Clause
#include "core/host_mpi.hpp"

#ifdef MPI_ABI_VERSION

#include <string_view>

namespace tutti::detail {
namespace {

struct Host {
  Host() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    int subversion = 0;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&version, &subversion);
    const std::string_view name(text, static_cast<std::size_t>(length));
    const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
    is_open_mpi = has("Open MPI");
    is_mpich = has("MPICH") || has("Intel(R) MPI");
  }
  int version = 0;
  bool is_open_mpi = false;
  bool is_mpich = false;
};

const Host& host() {
  static const Host found;
  return found;
}

}  // namespace

bool host_is_open_mpi() { return host().is_open_mpi; }
bool host_is_mpich() { return host().is_mpich; }
bool host_has_large_counts() { return host().version >= 4; }

}  // namespace tutti::detail

#endif
