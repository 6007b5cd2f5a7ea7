// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/site.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string_view>
#include <tutti/call_site.hpp>

#include "diagnosis/fixed_text.hpp"
#include "diagnosis/own_modules.hpp"

namespace tutti::detail {
namespace {

std::atomic<bool> wanted{false};

struct NextSite {
  bool is_set = false;
  int line = 0;
  std::array<char, 152> file{};
  std::array<char, 40> function{};
};

NextSite& next_site() noexcept {
  thread_local NextSite site;
  return site;
}

std::uintptr_t number_of(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

void set_module(const char* path, SiteRecord& record) noexcept {
  std::array<char, PATH_MAX> program{};
  if (path == nullptr || *path == '\0') {  // the program itself
    const ssize_t length = readlink("/proc/self/exe", program.data(), program.size() - 1);
    if (length <= 0) return;
    path = program.data();
  }
  keep_end(path, record.place);
}

SiteRecord looked_up(const CallSite& site) noexcept {
  SiteRecord record;
  std::uintptr_t bias = 0;
  for (std::size_t i = 0; i < site.frame_count; ++i) {
    Dl_info symbol{};
    link_map* module = nullptr;
    if (dladdr1(site.frames[i], &symbol, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0 || module == nullptr)
      break;
    if (i == 0) {
      bias = module->l_addr;
      set_module(module->l_name, record);
      if (symbol.dli_sname != nullptr) keep_begin(symbol.dli_sname, record.function);
    }
    if (module->l_addr != bias) break;
    record.offsets[i] = number_of(site.frames[i]) - bias;
    ++record.frame_count;
  }
  return record;
}

struct KnownSite {
  CallSite site{};
  SiteRecord record{};
};

/// The places of a program that make calls, of one thread: each is looked up once. Where a place may stand depends on
/// the addresses at which the system has loaded the program, so a few entries are searched: with one only, two places
/// in turn were looked up at every call in one run of ten.
class KnownSites {
 public:
  const SiteRecord& record_of(const CallSite& site) noexcept {
    const std::size_t first = hash(site) % sets * ways;
    const auto entries = std::span(table_).subspan(first, ways);
    const auto found = std::ranges::find_if(entries, [&](const KnownSite& known) {
      return known.site.frame_count == site.frame_count && known.site.frames == site.frames;
    });
    if (found != entries.end()) return found->record;
    KnownSite& entry = entries[next_++ % ways];
    entry = {site, looked_up(site)};
    return entry.record;
  }

 private:
  static constexpr std::size_t sets = 4;
  static constexpr std::size_t ways = 4;

  static std::size_t hash(const CallSite& site) noexcept {
    std::uintptr_t sum = 0;
    for (std::size_t i = 0; i < site.frame_count; ++i) sum = (sum ^ number_of(site.frames[i])) * 0x9e3779b97f4a7c15U;
    return sum >> 32U;
  }

  std::array<KnownSite, sets * ways> table_{};
  std::size_t next_ = 0;
};

const SiteRecord& known(const CallSite& site) noexcept {
  thread_local KnownSites sites;
  return sites.record_of(site);
}

}  // namespace

void want_sites() noexcept { wanted.store(true, std::memory_order_relaxed); }

void set_site(const char* file, int line, const char* function) noexcept {
  if (!wanted.load(std::memory_order_relaxed)) return;
  NextSite& next = next_site();
  next.is_set = true;
  next.line = line;
  keep_end(file == nullptr ? "" : file, next.file);
  keep_begin(function == nullptr ? "" : function, next.function);
}

bool is_in_preload_library() noexcept { return own_modules().in_preload(); }

CallSite take_site() noexcept {
  CallSite site;
  NextSite& next = next_site();
  if (next.is_set) {
    next.is_set = false;
    site.file = next.file.data();
    site.function = next.function.data();
    site.line = next.line;
  } else {
    note_frames(site);
  }
  return site;
}

SiteRecord record_of(const CallSite& site) noexcept {
  if (site.file == nullptr) return known(site);
  SiteRecord record;
  record.line = site.line;
  keep_end(site.file, record.place);
  keep_begin(site.function, record.function);
  return record;
}

}  // namespace tutti::detail

void tutti::at(const char* file, int line, const char* function) noexcept { detail::set_site(file, line, function); }
