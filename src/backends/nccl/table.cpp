// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/table.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::detail::nccl {
namespace {

std::atomic<const Table*> replaced{nullptr};

#ifdef TUTTI_HAVE_RCCL
constexpr const char* library_name = "librccl.so.1";
constexpr bool lacks_functions = true;  ///< RCCL states a version of NCCL, and may lack functions of it
#else
constexpr const char* library_name = "libnccl.so.2";
constexpr bool lacks_functions = false;
#endif
constexpr const char* launch_order = "NCCL_LAUNCH_ORDER_IMPLICIT";
constexpr const char* remedy = "install NCCL 2.18 or newer, or name its library by TUTTI_NCCL_LIBRARY";

/// The files to try, in this order.
std::vector<std::string> places(const std::string& path) {
  if (!path.empty()) return {path};
  const char* named = std::getenv("TUTTI_NCCL_LIBRARY");
  if (named != nullptr && *named != '\0') return {named};
  std::vector<std::string> all{library_name};
#ifdef TUTTI_NCCL_BUILD_LIBRARY
  all.emplace_back(TUTTI_NCCL_BUILD_LIBRARY);
#endif
  return all;
}

/// Never closed, because NCCL's threads and CUDA's callbacks may outlive any moment for closing it.
void* open_library(const std::string& path) {
  std::string reasons;
  for (const std::string& place : places(path)) {
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* why = dlerror();
    if (!reasons.empty()) reasons += "; ";
    reasons += why == nullptr ? place : why;
  }
  throw Error(ErrorCode::not_supported, fmt::format("no NCCL library could be opened ({}); {}", reasons, remedy));
}

/// Of an RCCL that lacks a function, `version` becomes the last without it.
template <typename Function>
void look_up(void* library, const char* symbol, int since, int& version, Function& function) {
  if (version < since) return;
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function != nullptr) return;
  if (!lacks_functions || since <= oldest_version)
    throw Error(ErrorCode::not_supported, fmt::format("the NCCL library lacks {}, which version {} should have; {}",
                                                      symbol, version_text(version), remedy));
  version = since - 1;
}

int version_of(void* library) {
  int (*get_version)(int*) = nullptr;
  int version = oldest_version;
  look_up(library, "ncclGetVersion", 0, version, get_version);
  if (get_version(&version) != 0) throw Error(ErrorCode::not_supported, "ncclGetVersion failed");
  if (version < oldest_version)
    throw Error(ErrorCode::not_supported,
                fmt::format("the NCCL library has version {}, which is too old; {}", version_text(version), remedy));
  return version;
}

/// The result of the first load, or the reason for its failure.
struct Loaded {
  Table table{};
  std::string why{};
};

Loaded load_once() {
  Loaded loaded;
#ifdef TUTTI_HAVE_NCCL
  try {
    loaded.table = load_table();
  } catch (const Error& error) {
    loaded.why = error.what();
  }
#else
  loaded.why = "this library was built without NCCL; build it with TUTTI_ENABLE_NCCL=ON";
#endif
  return loaded;
}

}  // namespace

bool orders_launches(int version) {
  const char* value = std::getenv(launch_order);
  return version >= version_of_launch_order && value != nullptr && std::strtoll(value, nullptr, 0) != 0;
}

Table load_table(const std::string& path) {
  void* library = open_library(path);
  Table table;
  table.version = version_of(library);
  table.orders_launches = orders_launches(table.version);
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) \
  look_up(library, #symbol, since, table.version, table.member);
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
  return table;
}

const Table* table(std::string& why) {
  if (const Table* other = replaced.load(std::memory_order_acquire)) return other;
  static const Loaded loaded = load_once();
  if (loaded.why.empty()) return &loaded.table;
  why = loaded.why;
  return nullptr;
}

void replace_table(const Table* other) noexcept { replaced.store(other, std::memory_order_release); }

std::string version_text(int version) {
  const int major = version < 10000 ? 1000 : 10000;  // from 2.9 on a minor version has two digits
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

}  // namespace tutti::detail::nccl
