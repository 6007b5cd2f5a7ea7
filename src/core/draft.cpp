// SPDX-License-Identifier: BSD-3-Clause
#include "core/draft.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/random_word.hpp"

namespace tutti::detail {
namespace {

std::filesystem::path draft_of(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.{:016x}", path.filename().string(), random_word());
}

}  // namespace

int open_new(const std::filesystem::path& path, mode_t mode) noexcept {
  return ::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
}

int open_nameless(const std::filesystem::path& folder) {
  const std::filesystem::path path = draft_of(folder / "rows");
  const int file = open_new(path, 0600);
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

Draft::Draft(std::filesystem::path path, mode_t mode)
    : path_(std::move(path)), draft_(draft_of(path_)), file_(open_new(draft_, mode)) {}

Draft::~Draft() {
  if (file_ < 0) return;
  ::close(file_);
  if (!draft_.empty()) ::unlink(draft_.c_str());
}

bool Draft::publish() noexcept {
  if (std::rename(draft_.c_str(), path_.c_str()) != 0) return false;
  draft_.clear();
  return true;
}

}  // namespace tutti::detail
