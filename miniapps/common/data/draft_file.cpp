// SPDX-License-Identifier: BSD-3-Clause
#include "draft_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::miniapps {

namespace {

[[noreturn]] void fail_draft(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

DraftFile::DraftFile(std::filesystem::path path, Role role)
    : path_(std::move(path)), draft_(path_.string() + ".draft"), role_(role) {
  if (role_ == Role::creator) {
    ::unlink(draft_.c_str());
  }
  const int how = role_ == Role::creator ? O_CREAT | O_EXCL : 0;
  file_ = ::open(draft_.c_str(), how | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file_ < 0) {
    fail_draft(draft_, "cannot be created; name a folder that can be written");
  }
}

DraftFile::~DraftFile() {
  if (file_ < 0) {
    return;
  }
  ::close(file_);
  if (role_ == Role::creator) {
    ::unlink(draft_.c_str());
  }
}

void DraftFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      fail_draft(draft_, "cannot be written; is the disk full?");
    }
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void DraftFile::append(std::span<const std::byte> bytes) {
  write(end_, bytes);
  end_ += bytes.size();
}

void DraftFile::close_file(bool durable) {
  const bool written = !durable || ::fsync(file_) == 0;
  if (::close(std::exchange(file_, -1)) != 0 || !written) {
    fail_draft(draft_, "cannot be written; is the disk full?");
  }
}

void DraftFile::keep() { close_file(true); }

void DraftFile::commit(bool durable) {
  close_file(durable);
  if (::rename(draft_.c_str(), path_.c_str()) != 0) {
    fail_draft(path_, "cannot be replaced");
  }
}

}  // namespace tutti::miniapps
