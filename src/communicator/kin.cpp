// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/kin.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "core/config.hpp"
#include "core/hash.hpp"
#include "core/random_word.hpp"
#include "planner/calibration.hpp"
#include "planner/files.hpp"

namespace tutti::detail {
namespace {

struct Entry {
  KinName name{};
  std::uint64_t sources = 0;  ///< what its measurements came from
  std::shared_ptr<const Kin> kin{};
};

struct Known {
  std::mutex mutex;
  std::array<Entry, most_kin> entries{};
  std::size_t oldest = 0;
};

// Never destroyed, because communicators of static objects may be made at any time.
Known& known() {
  static auto* instance = new Known;
  return *instance;
}

void add_file(Hash& hash, const std::filesystem::path& path) {
  struct stat found {};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) found = {};
  hash.add(found.st_ino).add(found.st_size).add(found.st_mtim.tv_sec).add(found.st_mtim.tv_nsec);
}

std::uint64_t sources_now() {
  const char* named = std::getenv("TUTTI_TUNING");
  Hash hash;
  hash.add(std::string_view(named != nullptr ? named : ""));
  for (const std::filesystem::path& path : {std::filesystem::path(named != nullptr ? named : ""), tuning::cache_file(),
                                            tuning::install_file(), tuning::calibration_file()})
    add_file(hash, path);
  return hash.add(tuning::is_calibration_doubted()).value();
}

}  // namespace

std::uint64_t process_number() {
  static const std::uint64_t number = random_word();
  return number;
}

std::uint64_t kin_name(std::span<const std::uint64_t> processes) { return hash_bytes(std::as_bytes(processes)) | 1U; }

std::shared_ptr<const Kin> KnownKin::find(const KinName& name) const {
  for (std::size_t i = 0; i < most_kin; ++i)
    if (names[i] == name) return kin[i];
  return nullptr;
}

KnownKin known_kin(bool is_first) {
  const std::uint64_t sources = is_first ? sources_now() : 0;
  KnownKin found;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < most_kin; ++i) {
    const Entry& entry = all.entries[i];
    found.is_stale[i] = is_first && entry.sources != sources;
    found.names[i] = entry.name;
    found.kin[i] = entry.kin;
    if (entry.kin) found.left[i] = entry.kin->heritage->left();
  }
  return found;
}

void keep_kin(const KinName& name, const Context& context, std::shared_ptr<Heritage> heritage,
              std::vector<int> members) {
  if (config().calibration == CalibrationMode::now) return;  // every communicator measures
  Entry entry{name, context.rank == 0 ? sources_now() : 0,
              std::make_shared<const Kin>(Kin{context.topology, context.costs, context.costs_report, context.measured,
                                              context.measured_report, context.commons, std::move(heritage),
                                              std::move(members)})};
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (Entry& old : all.entries)
    if (old.name.name == name.name) {
      old = std::move(entry);
      return;
    }
  all.entries[all.oldest++ % most_kin] = std::move(entry);
}

}  // namespace tutti::detail
