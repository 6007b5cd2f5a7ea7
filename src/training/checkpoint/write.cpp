// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <tutti/checkpoint.hpp>
#include <tutti/error.hpp>

#include "training/checkpoint/format.hpp"

namespace tutti {

namespace detail::checkpoint {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw Error(ErrorCode::io, path.string() + ": cannot be " + what + ": " + std::strerror(errno));
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

}  // namespace

std::optional<Manifest> find_manifest(const std::filesystem::path& folder) {
  std::error_code error;
  const bool is_absent =
      std::filesystem::status(manifest_path(folder), error).type() == std::filesystem::file_type::not_found;
  if (is_absent) return std::nullopt;
  return read_manifest(folder);
}

std::uint64_t next_generation(const std::optional<Manifest>& valid) {
  return valid ? valid->generations.back().number + 1 : 1;
}

std::uint64_t next_generation(const std::filesystem::path& folder) { return next_generation(find_manifest(folder)); }

NewFile::NewFile(const std::filesystem::path& path) : path_(path), draft_(path) {
  if (!draft_.valid()) {
    fail(path, "created");
  }
}

void NewFile::write(std::uint64_t offset, std::span<const std::byte> content) {
  auto at = static_cast<off_t>(offset);
  while (!content.empty()) {
    const ssize_t wrote = ::pwrite(draft_.get(), content.data(), content.size(), at);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      fail(path_, "written");
    }
    at += wrote;
    content = content.subspan(static_cast<std::size_t>(wrote));
  }
}

void NewFile::publish() {
  if (::fsync(draft_.get()) != 0) {
    fail(path_, "flushed to disk");
  }
  if (!draft_.publish()) {
    fail(path_, "replaced");
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

// Stays in a cache from the copy to the checksum and the file; a save beside training stops after each.
constexpr std::size_t bytes_at_once = std::size_t{256} << 10U;

std::uint64_t aligned(std::uint64_t offset) { return (offset + alignment - 1) / alignment * alignment; }

/// Places the sections after their table. The length of the table depends on the offsets in it, so this repeats until
/// both agree. Returns the length of the table's text with the longest checksums: those of the contents are not known
/// yet.
std::size_t place(std::vector<checkpoint::Section>& sections) {
  std::uint64_t begin = 0;
  while (true) {
    std::uint64_t at = aligned(begin);
    for (checkpoint::Section& s : sections) {
      s.offset = at;
      at = aligned(at + s.bytes);
    }
    const std::string text = checkpoint::table_text(sections);
    const std::size_t head = checkpoint::with_header(text).size();
    if (head <= aligned(begin)) {
      return text.size();
    }
    begin = head;
  }
}

/// A value is finite unless all bits of its exponent are 1.
template <typename Bits>
bool are_finite(std::span<const std::byte> content, Bits exponent) {
  bool finite = true;
  for (std::size_t at = 0; at + sizeof(Bits) <= content.size(); at += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, content.data() + at, sizeof value);
    finite &= (value & exponent) != exponent;
  }
  return finite;
}

bool are_finite(DatatypeKind type, std::span<const std::byte> content) {
  switch (type) {
    case DatatypeKind::float16:
      return are_finite<std::uint16_t>(content, 0x7C00U);
    case DatatypeKind::bfloat16:
      return are_finite<std::uint16_t>(content, 0x7F80U);
    case DatatypeKind::float32:
      return are_finite<std::uint32_t>(content, 0x7F800000U);
    case DatatypeKind::float64:
      return are_finite<std::uint64_t>(content, 0x7FF0000000000000U);
    default:
      return true;
  }
}

/// Copies a section piece by piece to its place in the file, and returns its checksum.
std::uint32_t copy_section(const CheckpointPart::Read& read, DatatypeKind type, const checkpoint::Section& to,
                           checkpoint::NewFile& file, const std::function<void()>& after_piece) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes_at_once, to.bytes));
  std::uint32_t crc = checkpoint::checksum({});
  for (std::uint64_t done = 0; done < to.bytes; done += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(buffer.size(), to.bytes - done));
    read(done, buffer);
    if (!are_finite(type, buffer)) {
      throw Error(ErrorCode::invalid_argument, "checkpoint: nothing is saved, because '" + to.name +
                                                   "' has a value that is not finite; go on from an earlier one");
    }
    crc = checkpoint::checksum(buffer, crc);
    file.write(to.offset + done, buffer);
    after_piece();
  }
  return crc;
}

}  // namespace

namespace {

/// Reads memory, which `holder` keeps if it is set.
CheckpointPart::Read read_of(std::span<const std::byte> content, std::shared_ptr<const void> holder = nullptr) {
  return [content, holder = std::move(holder)](std::uint64_t offset, std::span<std::byte> out) {
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  };
}

}  // namespace

CheckpointPart::CheckpointPart(std::filesystem::path folder, int rank, std::shared_ptr<checkpoint::Increment> increment)
    : folder_(std::move(folder)), rank_(rank), increment_(std::move(increment)) {}

void CheckpointPart::add(const std::string& name, std::span<const std::byte> content) {
  add(name, content.size(), DatatypeKind::bytes, read_of(content));
  sections_.back().is_view = true;
}

void CheckpointPart::add(const std::string& name, std::uint64_t bytes, DatatypeKind type, Read read) {
  sections_.push_back({name, bytes, type, std::move(read), false});
}

void CheckpointPart::copy_views() {
  for (Section& s : sections_) {
    if (!s.is_view) continue;
    const auto copy = std::make_shared<std::vector<std::byte>>(s.bytes);
    s.read(0, *copy);
    s.read = read_of(*copy, copy);
  }
}

void CheckpointPart::write() const {
  write([] {});
}

void CheckpointPart::write(const std::function<void()>& after_piece) const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ErrorCode::io, folder_.string() + ": cannot be created: " + error.message());
  }
  std::vector<checkpoint::Section> table;
  for (const Section& s : sections_) {
    table.push_back({s.name, 0, s.bytes, std::numeric_limits<std::uint32_t>::max()});
  }
  const std::size_t length = place(table);
  checkpoint::NewFile file(checkpoint::part_path(folder_, checkpoint::next_generation(folder_), rank_));
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i].crc = copy_section(sections_[i].read, sections_[i].type, table[i], file, after_piece);
  }
  std::string text = checkpoint::table_text(table);
  text.resize(length, ' ');
  const std::string head = checkpoint::with_header(text);
  file.write(0, std::as_bytes(std::span(head)));
  file.publish();
  checkpoint::sync_folder(folder_);
}

void CheckpointPart::discard() const noexcept {
  try {
    std::filesystem::remove(checkpoint::part_path(folder_, checkpoint::next_generation(folder_), rank_));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next commit removes the part
  }
}

void commit_checkpoint(const std::filesystem::path& folder, int parts) { checkpoint::commit(folder, parts, 0); }

}  // namespace tutti
