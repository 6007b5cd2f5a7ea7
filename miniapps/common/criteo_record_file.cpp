// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <tutti/error.hpp>

#include "criteo_binary.hpp"

namespace tutti::miniapps {

static_assert(std::endian::native == std::endian::little, "the binary format is little-endian");

namespace {

constexpr std::size_t write_block = 4096;  // records

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

/// One pass without branches: the sign of all numbers together.
bool is_good(const CriteoRecord& record) {
  std::int32_t signs = 0;
  for (const std::int32_t value : record.dense) {
    signs |= value;
  }
  for (const std::int32_t value : record.categories) {
    signs |= value;
  }
  const bool label = record.label == 0 || record.label == 1;
  return label && signs >= 0;
}

void check_record(const CriteoRecord& record, const std::filesystem::path& path, std::uint64_t sample) {
  if (is_good(record)) {
    return;
  }
  const bool label = static_cast<std::uint32_t>(record.label) <= 1;
  fail(path, "sample " + std::to_string(sample) +
                 (label ? " has a negative number" : " has a label that is neither 0 nor 1") +
                 "; is this a file of 40 int32 per sample?");
}

/// Null where the file cannot be mapped.
const CriteoRecord* map_records(int file, std::uint64_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    return nullptr;
  }
  ::madvise(at, bytes, MADV_RANDOM);
  return static_cast<const CriteoRecord*>(at);
}

/// Begins to load a record that is needed soon.
void fetch_ahead(const CriteoRecord& record) {
  constexpr std::size_t line = 64;
  const auto* const first = reinterpret_cast<const char*>(&record);
  for (std::size_t at = 0; at < sizeof record; at += line) {
    __builtin_prefetch(first + at);
  }
}

}  // namespace

CriteoRecordFile::CriteoRecordFile(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) {
    fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  struct stat info {};
  const bool known = ::fstat(file_, &info) == 0;
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  records_ = bytes / sizeof(CriteoRecord);
  if (known && bytes > 0 && bytes % sizeof(CriteoRecord) == 0) {
    mapped_ = map_records(file_, bytes);
    return;
  }
  ::close(file_);
  file_ = -1;
  if (bytes == 0) {
    fail(path, "is empty");
  }
  fail(path, "is truncated: " + std::to_string(bytes) + " bytes are not a multiple of the record's 160, sample " +
                 std::to_string(records_) + " is incomplete; write the file again");
}

CriteoRecordFile::~CriteoRecordFile() {
  if (mapped_ != nullptr) {
    ::munmap(const_cast<CriteoRecord*>(mapped_), records_ * sizeof(CriteoRecord));
  }
  if (file_ >= 0) {
    ::close(file_);
  }
}

void CriteoRecordFile::read(std::uint64_t first, std::span<CriteoRecord> out) const {
  auto* to = reinterpret_cast<char*>(out.data());
  std::size_t left = out.size_bytes();
  auto at = static_cast<off_t>(first * sizeof(CriteoRecord));
  while (left > 0) {
    const ssize_t got = ::pread(file_, to, left, at);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      fail(path_, "cannot be read at byte " + std::to_string(at) + ": " +
                      (got < 0 ? std::strerror(errno) : "it has become shorter"));
    }
    to += got;
    at += got;
    left -= static_cast<std::size_t>(got);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    check_record(out[i], path_, first + i);
  }
}

void CriteoRecordFile::gather(std::span<const std::uint64_t> numbers, std::span<CriteoRecord> out) const {
  constexpr std::size_t ahead = 16;
  struct stat info {};
  const bool is_whole =
      ::fstat(file_, &info) == 0 && static_cast<std::uint64_t>(info.st_size) >= records_ * sizeof(CriteoRecord);
  if (mapped_ == nullptr || !is_whole) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      read(numbers[i], out.subspan(i, 1));
    }
    return;
  }
  for (const std::uint64_t number : numbers.first(std::min(ahead, numbers.size()))) {
    fetch_ahead(mapped_[number]);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    fetch_ahead(mapped_[numbers[std::min(i + ahead, numbers.size() - 1)]]);
    out[i] = mapped_[numbers[i]];
    check_record(out[i], path_, numbers[i]);
  }
}

CriteoRecordWriter::CriteoRecordWriter(const std::filesystem::path& path) : file_(path) {
  pending_.reserve(write_block);
}

void CriteoRecordWriter::append(const CriteoRecord& record) {
  pending_.push_back(record);
  if (pending_.size() == write_block) {
    flush();
  }
}

void CriteoRecordWriter::flush() {
  file_.append(std::as_bytes(std::span(pending_)));
  pending_.clear();
}

void CriteoRecordWriter::close() {
  flush();
  file_.commit(false);
}

}  // namespace tutti::miniapps
