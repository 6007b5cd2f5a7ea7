// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

/// A checkpoint is a folder: one part file a rank, each of named sections, and a manifest that names the valid
/// generation of parts and is replaced last, by an atomic rename. So a kill at any moment leaves the old or the new
/// checkpoint. Sections carry a CRC-32; so do the table of a part and the manifest.
///
/// Saving on R ranks: every rank makes a CheckpointPart with the same folder, adds sections whose names no other rank
/// uses, and calls write(); when all ranks have written (a barrier or an agreed status by the caller), one rank calls
/// commit_checkpoint; another barrier lets all go on. Nothing here communicates. All ranks see one file system.
class TUTTI_EXPORT CheckpointPart {
 public:
  CheckpointPart(std::filesystem::path folder, int rank);
  /// Names memory to be saved; it must stay valid and unchanged until write() returns.
  void add(const std::string& name, std::span<const std::byte> content);
  template <typename T>
  void add(const std::string& name, std::span<const T> content) {
    add(name, std::as_bytes(content));
  }
  /// Writes the part and flushes it to disk. Throws tutti::Error (io). The checkpoint that the folder already holds
  /// stays valid.
  void write() const;

 private:
  struct Section {
    std::string name;
    std::span<const std::byte> content;
  };
  std::filesystem::path folder_;
  int rank_;
  std::vector<Section> sections_;
};

/// Makes the parts of ranks 0 to parts - 1 the folder's checkpoint, and removes those of older ones. One rank calls it,
/// after every rank's write().
TUTTI_EXPORT void commit_checkpoint(const std::filesystem::path& folder, int parts);

/// Reads a checkpoint, on any number of ranks: each section is found whatever rank wrote it. Opening checks the
/// manifest and the tables; reading a section checks that section. Damage is a tutti::Error (io) that names the section
/// (or the table) and says "checksum", or "truncated".
class TUTTI_EXPORT CheckpointReader {
 public:
  explicit CheckpointReader(std::filesystem::path folder);
  ~CheckpointReader();

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::size_t bytes(const std::string& name) const;
  /// `out` has the section's size, else tutti::Error (io) with both sizes.
  void read(const std::string& name, std::span<std::byte> out) const;
  template <typename T>
  void read(const std::string& name, std::span<T> out) const {
    read(name, std::as_writable_bytes(out));
  }
  [[nodiscard]] std::string text(const std::string& name) const;
  /// Checks every section.
  void verify() const;

 private:
  struct Entry;
  [[nodiscard]] const Entry& find(const std::string& name) const;
  std::filesystem::path folder_;
  std::vector<Entry> entries_;
};

}  // namespace tutti
