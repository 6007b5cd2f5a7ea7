// SPDX-License-Identifier: BSD-3-Clause
#include "planner/remembered.hpp"

#include <sys/stat.h>

#include <array>

#include "planner/files.hpp"

namespace tutti::detail::tuning {
namespace {

namespace fs = std::filesystem;

/// The identity of a file's state: device, inode, length, and times of the content and of the inode.
using State = std::array<std::int64_t, 7>;

std::optional<State> state_of(const fs::path& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  return State{static_cast<std::int64_t>(s.st_dev),
               static_cast<std::int64_t>(s.st_ino),
               s.st_size,
               s.st_mtim.tv_sec,
               s.st_mtim.tv_nsec,
               s.st_ctim.tv_sec,
               s.st_ctim.tv_nsec};
}

}  // namespace

const std::string& TableTexts::text(std::size_t section) {
  const std::lock_guard lock(mutex_);
  std::string& text = texts_.at(section);
  if (text.empty()) text = print({sections_[section]});
  return text;
}

std::shared_ptr<TableTexts> tables_in(const fs::path& path) {
  static std::mutex mutex;
  static fs::path last_path;
  static std::optional<State> last_state;
  static std::shared_ptr<TableTexts> last;
  const std::lock_guard lock(mutex);
  // Taken before reading, so that a change during reading is seen next time.
  const auto state = state_of(path);
  if (last && state && path == last_path && state == last_state) return last;
  const auto text = read_file(path);
  if (!text) return nullptr;
  auto tables = std::make_shared<TableTexts>(parse(*text));
  last_path = path;
  last_state = state;
  last = tables;
  return tables;
}

std::shared_ptr<const Table> table_of(std::string_view text) {
  static std::mutex mutex;
  static std::string last_text;
  static std::shared_ptr<const Table> last;
  const std::lock_guard lock(mutex);
  if (!last || text != last_text) {
    const Section section = parse(text).at(0);
    last = std::make_shared<const Table>(section.cells, section.links);
    last_text = text;
  }
  return last;
}

}  // namespace tutti::detail::tuning
