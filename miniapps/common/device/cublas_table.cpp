// SPDX-License-Identifier: BSD-3-Clause
#include "cublas_table.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::miniapps::device {

namespace {

std::atomic<const CublasTable*> replaced{nullptr};

std::vector<std::string> library_names() {
  if (const char* path = std::getenv("TUTTI_CUBLAS_LIBRARY"); path != nullptr && *path != '\0') {
    return {path};
  }
  return {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"};
}

/// Stays open: what it gave out is used until the process ends.
void* open_library() {
  std::string reason;
  for (const std::string& name : library_names()) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
    const char* text = dlerror();
    reason += (reason.empty() ? "" : "; ") + (text != nullptr ? std::string(text) : name + " was not found");
  }
  throw Error(ErrorCode::not_supported, "products on the device need cuBLAS: " + reason +
                                            "; add its folder to LD_LIBRARY_PATH, or set TUTTI_CUBLAS_LIBRARY");
}

template <typename Function>
void look_up(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) {
    throw Error(ErrorCode::not_supported,
                std::string("cuBLAS: the library that was found lacks ") + symbol + "; version 11 or later is needed");
  }
}

/// cuBLAS itself needs cublasLt, so its handle also finds the functions of the one that fits.
CublasLtTable load_lt_table(void* library) {
  CublasLtTable table;
  bool has_all = true;
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments)                            \
  table.member = reinterpret_cast<decltype(table.member)>(dlsym(library, #symbol)); \
  has_all = has_all && table.member != nullptr;
#include "common/device/cublas_lt_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
  return has_all ? table : CublasLtTable{};
}

CublasTable load_table() {
  void* library = open_library();
  CublasTable table;
  table.lt = load_lt_table(library);
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) look_up(library, #symbol, table.member);
#include "common/device/cublas_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
  return table;
}

}  // namespace

const CublasTable& cublas_table() {
  if (const CublasTable* other = replaced.load(std::memory_order_acquire)) {
    return *other;
  }
  static const CublasTable loaded = load_table();
  return loaded;
}

void replace_cublas_table(const CublasTable* other) noexcept { replaced.store(other, std::memory_order_release); }

}  // namespace tutti::miniapps::device
