// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <tutti/error.hpp>
#include <utility>

#include "collectives/services.hpp"

namespace tutti::detail {

namespace {

constexpr const char* remedy = "name a folder on a disk with room for them";

/// In parts, each of which the kernel can end before the next signal.
int reserve(int file, std::uint64_t bytes) {
  constexpr std::uint64_t part = std::uint64_t{64} << 20U;
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return EFBIG;
  for (std::uint64_t at = 0; at < bytes; at += part) {
    if (const int error = reserve_file(file, at, std::min(part, bytes - at)); error != 0) return error;
  }
  return 0;
}

/// Repeats `move` until all bytes have moved; it returns how many did, as pread and pwrite do.
template <typename Move>
void move_all(const std::filesystem::path& folder, const char* what, std::size_t bytes, const Move& move) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      throw Error(ErrorCode::io, fmt::format("table_folder '{}': rows cannot be {}: {}", folder.string(), what,
                                             moved < 0 ? std::strerror(errno) : "the file has ended"));
    }
    done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

RowFile::RowFile(const std::filesystem::path& folder, std::uint64_t bytes)
    : folder_(folder), file_(open_nameless(folder)) {
  if (file_ < 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("table_folder '{}' takes no file for {} bytes of rows: {}; {}",
                                                         folder.string(), bytes, std::strerror(errno), remedy));
  }
  if (const int error = reserve(file_, bytes); error != 0) {
    ::close(file_);
    throw Error(ErrorCode::out_of_memory, fmt::format("table_folder '{}' has no room for {} bytes of rows: {}; {}",
                                                      folder.string(), bytes, std::strerror(error), remedy));
  }
#ifdef POSIX_FADV_RANDOM
  ::posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
#endif
}

RowFile::~RowFile() {
  if (file_ >= 0) ::close(file_);
}

RowFile::RowFile(RowFile&& other) noexcept : folder_(std::move(other.folder_)), file_(std::exchange(other.file_, -1)) {}

void RowFile::read(std::uint64_t at, std::span<std::byte> to) const {
  move_all(folder_, "read", to.size(), [&](std::size_t done) {
    return ::pread(file_, to.data() + done, to.size() - done, static_cast<off_t>(at + done));
  });
}

void RowFile::write(std::uint64_t at, std::span<const std::byte> from) const {
  move_all(folder_, "written", from.size(), [&](std::size_t done) {
    return ::pwrite(file_, from.data() + done, from.size() - done, static_cast<off_t>(at + done));
  });
}

void RowFile::ask(std::uint64_t at, std::uint64_t bytes) const noexcept {
#ifdef POSIX_FADV_WILLNEED
  ::posix_fadvise(file_, static_cast<off_t>(at), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
#endif
}

}  // namespace tutti::detail
