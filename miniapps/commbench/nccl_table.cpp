// SPDX-License-Identifier: BSD-3-Clause
#include "nccl_table.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tutti::commbench {
namespace {

std::atomic<const NcclTable*> replaced{nullptr};

/// Stays open: NCCL's threads use it until the process ends.
void* open_library() {
  constexpr const char* usual = "libnccl.so.2";
  if (void* library = dlopen(usual, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return library;
  const char* named = std::getenv("TUTTI_NCCL_LIBRARY");
  const char* path = named != nullptr && *named != '\0' ? named : usual;
  if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  const char* why = dlerror();
  throw std::runtime_error(std::string("no NCCL library could be opened: ") + (why != nullptr ? why : path) +
                           "; name it by TUTTI_NCCL_LIBRARY");
}

template <typename Function>
void look_up(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) throw std::runtime_error(std::string("the NCCL library lacks ") + symbol);
}

NcclTable load_table() {
  void* library = open_library();
  NcclTable table;
#define TUTTI_RAW_NCCL(member, symbol, result, arguments) look_up(library, #symbol, table.member);
#include "commbench/nccl_symbols.def"
#undef TUTTI_RAW_NCCL
  return table;
}

}  // namespace

const NcclTable& nccl_table() {
  if (const NcclTable* other = replaced.load(std::memory_order_acquire)) return *other;
  static const NcclTable loaded = load_table();
  return loaded;
}

void replace_nccl_table(const NcclTable* other) noexcept { replaced.store(other, std::memory_order_release); }

}  // namespace tutti::commbench
