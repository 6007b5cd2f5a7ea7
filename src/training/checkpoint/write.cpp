// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tutti/checkpoint.hpp>
#include <tutti/error.hpp>

#include "collectives/services.hpp"
#include "training/checkpoint/format.hpp"

namespace tutti {

namespace detail::checkpoint {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw Error(ErrorCode::io, path.string() + ": cannot be " + what + ": " + std::strerror(errno));
}

void write_extent(int file, const std::filesystem::path& path, const Extent& extent) {
  const std::byte* from = extent.content.data();
  std::size_t left = extent.content.size();
  auto at = static_cast<off_t>(extent.offset);
  while (left > 0) {
    const ssize_t wrote = ::pwrite(file, from, left, at);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      fail(path, "written");
    }
    from += wrote;
    at += wrote;
    left -= static_cast<std::size_t>(wrote);
  }
}

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { ::close(file_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

/// The generation that the next save writes: one above the valid one.
std::uint64_t next_generation(const std::filesystem::path& folder) {
  std::error_code error;
  const bool is_absent =
      std::filesystem::status(manifest_path(folder), error).type() == std::filesystem::file_type::not_found;
  return is_absent ? 1 : read_manifest(folder).generation + 1;
}

}  // namespace

void write_file(const std::filesystem::path& path, const std::vector<Extent>& extents) {
  Draft file(path);
  if (!file.valid()) {
    fail(path, "created");
  }
  for (const Extent& extent : extents) {
    write_extent(file.get(), path, extent);
  }
  if (::fsync(file.get()) != 0) {
    fail(path, "flushed to disk");
  }
  if (!file.publish()) {
    fail(path, "replaced");
  }
}

void sync_folder(const std::filesystem::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) {
    fail(folder, "opened");
  }
  const Descriptor descriptor(opened);
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    fail(folder, "flushed to disk");
  }
}

}  // namespace detail::checkpoint

namespace checkpoint = detail::checkpoint;

namespace {

constexpr std::uint64_t alignment = 64;

std::uint64_t aligned(std::uint64_t offset) { return (offset + alignment - 1) / alignment * alignment; }

/// Places the sections after their table. The length of the table depends on the offsets in it, so this repeats until
/// both agree.
std::string place(std::vector<checkpoint::Section>& sections) {
  std::uint64_t begin = 0;
  while (true) {
    std::uint64_t at = aligned(begin);
    for (checkpoint::Section& s : sections) {
      s.offset = at;
      at = aligned(at + s.bytes);
    }
    std::string head = checkpoint::with_header(checkpoint::table_text(sections));
    if (head.size() <= aligned(begin)) {
      return head;
    }
    begin = head.size();
  }
}

}  // namespace

CheckpointPart::CheckpointPart(std::filesystem::path folder, int rank) : folder_(std::move(folder)), rank_(rank) {}

void CheckpointPart::add(const std::string& name, std::span<const std::byte> content) {
  sections_.push_back({name, content});
}

void CheckpointPart::write() const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ErrorCode::io, folder_.string() + ": cannot be created: " + error.message());
  }
  std::vector<checkpoint::Section> sections;
  for (const Section& s : sections_) {
    sections.push_back({s.name, 0, s.content.size(), checkpoint::checksum(s.content)});
  }
  const std::string head = place(sections);
  std::vector<checkpoint::Extent> extents{{0, std::as_bytes(std::span(head))}};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    extents.push_back({sections[i].offset, sections_[i].content});
  }
  checkpoint::write_file(checkpoint::part_path(folder_, checkpoint::next_generation(folder_), rank_), extents);
  checkpoint::sync_folder(folder_);
}

void commit_checkpoint(const std::filesystem::path& folder, int parts) {
  checkpoint::Manifest manifest;
  manifest.generation = checkpoint::next_generation(folder);
  for (int rank = 0; rank < parts; ++rank) {
    std::uint32_t crc = 0;
    (void)checkpoint::read_table(checkpoint::part_path(folder, manifest.generation, rank), &crc);
    manifest.part_crcs.push_back(crc);
  }
  const std::string text = checkpoint::with_header(checkpoint::manifest_text(manifest));
  checkpoint::write_file(checkpoint::manifest_path(folder), {{0, std::as_bytes(std::span(text))}});
  checkpoint::sync_folder(folder);
  std::error_code error;
  const std::string valid = "part-" + std::to_string(manifest.generation) + "-";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string part = name.substr(name.starts_with('.') ? 1 : 0);  // the draft of a save that was killed, too
    std::error_code kept;
    if (part.starts_with("part-") && !part.starts_with(valid)) {
      std::filesystem::remove(entry->path(), kept);
    }
  }
}

}  // namespace tutti
