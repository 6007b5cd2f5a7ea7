// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/xpmem.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/config.hpp"

namespace tutti::detail::shm {
namespace {

/// The library as far as it could be loaded, and the reason why it cannot be used.
struct LoadedXpmem {
  Xpmem functions{};
  bool complete = false;
  std::string why{};
};

/// Never closed, because attachments may last until the process ends.
void* open_xpmem(std::string& why) {
  const char* named = std::getenv("TUTTI_XPMEM_LIBRARY");
  if (named != nullptr && *named != '\0') {
    void* library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why = fmt::format("TUTTI_XPMEM_LIBRARY={} could not be opened: {}", named, dlerror());
    return library;
  }
  for (const char* name : {"libxpmem.so.0", "libxpmem.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <typename Function>
bool find_function(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

LoadedXpmem load_xpmem() {
  LoadedXpmem loaded;
  if (!config().xpmem) return loaded;
  void* library = open_xpmem(loaded.why);
  if (library == nullptr) return loaded;
  Xpmem& all = loaded.functions;
  loaded.complete =
      find_function(library, "xpmem_make", all.make) && find_function(library, "xpmem_remove", all.remove) &&
      find_function(library, "xpmem_get", all.get) && find_function(library, "xpmem_release", all.release) &&
      find_function(library, "xpmem_attach", all.attach) && find_function(library, "xpmem_detach", all.detach);
  if (!loaded.complete) loaded.why = "the library of XPMEM lacks a function";
  return loaded;
}

struct OwnSegment {
  std::int64_t id = 0;
  std::string why{};
};

OwnSegment make_own_segment() {
  OwnSegment own;
  const Xpmem* library = xpmem(own.why);
  if (library == nullptr) return own;
  // Other users may not attach, as they may not open the segments in /dev/shm.
  void* only_owner = reinterpret_cast<void*>(std::uintptr_t{0600});  // NOLINT(performance-no-int-to-ptr)
  const std::int64_t id = library->make(nullptr, Xpmem::whole_address_space, Xpmem::permit_mode, only_owner);
  if (id > 0)
    own.id = id;
  else
    own.why = fmt::format("xpmem_make failed: {}; is the module xpmem loaded, and may this user open /dev/xpmem?",
                          std::strerror(errno));
  return own;
}

}  // namespace

const Xpmem* xpmem(std::string& why) {
  static const LoadedXpmem loaded = load_xpmem();
  why = loaded.why;
  return loaded.complete ? &loaded.functions : nullptr;
}

std::int64_t own_segment(std::string& why) {
  static const OwnSegment own = make_own_segment();
  why = own.why;
  return own.id;
}

}  // namespace tutti::detail::shm
