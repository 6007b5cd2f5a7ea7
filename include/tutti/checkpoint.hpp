// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

/// One rank's part of a checkpoint. A checkpoint is a folder: one part file for each rank, with named sections, and a
/// manifest that names the valid generation of parts. The manifest is replaced last, by an atomic rename, so a kill at
/// any moment leaves either the old or the new checkpoint. Sections, the table of each part and the manifest carry a
/// CRC-32.
///
/// To save on R ranks, as save_checkpoint() does, every rank makes a CheckpointPart with the same folder, adds sections
/// with names that no other rank uses, and calls write(). When all ranks have written (the caller agrees on that), one
/// rank calls commit_checkpoint(); all go on when they know its end. The class does not communicate. All ranks must see
/// the same file system.
class TUTTI_EXPORT CheckpointPart {
 public:
  CheckpointPart(std::filesystem::path folder, int rank);
  /// Adds a section. Its memory must stay valid and unchanged until write() returns.
  void add(const std::string& name, std::span<const std::byte> content);
  template <typename T>
  void add(const std::string& name, std::span<const T> content) {
    add(name, std::as_bytes(content));
  }
  /// Writes the part and flushes it to disk. The checkpoint that is in the folder already stays valid. Throws
  /// tutti::Error (io).
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

/// Makes the parts of ranks 0 to parts - 1 the folder's checkpoint, and removes older parts. One rank calls it, after
/// every rank's write().
TUTTI_EXPORT void commit_checkpoint(const std::filesystem::path& folder, int parts);

/// Reads a checkpoint, on any number of ranks: it finds each section, whichever rank wrote it. Opening checks the
/// manifest and the tables; reading a section checks that section. A damaged checkpoint is a tutti::Error (io) that
/// names the section (or the table) and says "checksum" or "truncated".
class TUTTI_EXPORT CheckpointReader {
 public:
  explicit CheckpointReader(std::filesystem::path folder);
  ~CheckpointReader();

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::size_t bytes(const std::string& name) const;
  /// Reads a section. Throws tutti::Error (io), with both sizes, unless `out` has the section's size.
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

/// Saves what each rank adds to its part, and commits it. Collective over `comm`, blocking. `add` is called once on
/// each rank. Errors: if a rank fails, all throw the error of the first such rank, and the checkpoint that the folder
/// had stays valid.
TUTTI_EXPORT void save_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                                  const std::function<void(CheckpointPart&)>& add);
/// Opens the checkpoint on each rank, which reads what it needs. Collective over `comm`, blocking. `read` is called
/// once on each rank that can open it. Errors: as save_checkpoint(); ranks that did not fail have read.
TUTTI_EXPORT void load_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                                  const std::function<void(const CheckpointReader&)>& read);

}  // namespace tutti
