// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tutti::miniapps {

/// A file under construction: PATH.draft, which gets its final name when it is whole. A process that is killed leaves
/// the draft, which the next one replaces. Not for two independent processes at a time: callers hold a lock.
class DraftFile {
 public:
  enum class Role {
    creator,  ///< makes the draft anew, and commits or removes it
    writer    ///< writes into the draft of another rank
  };

  /// Throws tutti::Error (io) that names the draft.
  explicit DraftFile(std::filesystem::path path, Role role = Role::creator);
  ~DraftFile();  ///< of a creator without commit(): removes the draft
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  /// Writes all bytes at an offset. Throws tutti::Error (io), for instance for a full disk.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Writes behind all that was appended before.
  void append(std::span<const std::byte> bytes);
  /// Leaves the draft, whose content is on the disk, to a writer that commits it. Throws tutti::Error (io).
  void keep();
  /// Gives the file its final name; with `durable` after its content is on the disk. Throws tutti::Error (io).
  void commit(bool durable);

 private:
  void close_file(bool durable);

  std::filesystem::path path_;
  std::filesystem::path draft_;
  Role role_;
  int file_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace tutti::miniapps
