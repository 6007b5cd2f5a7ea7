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
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

namespace detail::checkpoint {
struct Generation;
struct Increment;
}  // namespace detail::checkpoint

/// What a save writes.
enum class SaveKind : std::uint8_t {
  full,  ///< everything
  /// Adds to the checkpoint that the folder has, in files of its own: an EmbeddingCollection adds only the rows, with
  /// their optimizer state, that changed since its last incremental save to this folder, and any other section replaces
  /// the one of its name. Such a save is full, with no word of the caller, where it is the first of a collection, where
  /// the rows were filled or loaded since, where something else was saved to the folder since, and where the files of
  /// the increments have come to have as many bytes as those of the full save. So a folder has at most about twice the
  /// bytes of a full save. From its first incremental save on, a collection keeps one bit for each row of this rank.
  incremental,
};

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
  /// `increment` is for the library's own use.
  CheckpointPart(std::filesystem::path folder, int rank,
                 std::shared_ptr<detail::checkpoint::Increment> increment = nullptr);
  /// Adds a section. Its memory must stay valid and unchanged until write() returns.
  void add(const std::string& name, std::span<const std::byte> content);
  template <typename T>
  void add(const std::string& name, std::span<const T> content) {
    add(name, std::as_bytes(content));
  }
  /// Copies a section's bytes from `offset` on to `out`. Called in ascending order of offsets, for each byte once; in a
  /// CheckpointSave by another thread, where it must call neither MPI nor Tutti. What it throws ends the write.
  using Read = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;
  /// Adds a section of `bytes` bytes that is read when it is written. Values of a type of float16, bfloat16, float32 or
  /// float64 must be finite; others are not looked at.
  void add(const std::string& name, std::uint64_t bytes, DatatypeKind type, Read read);
  /// Writes the part and flushes it to disk. The checkpoint that is in the folder already stays valid. Throws
  /// tutti::Error: io; invalid_argument, naming the section, for a value that is NaN or infinite.
  void write() const;
  /// Removes what write() wrote, in place of a commit.
  void discard() const noexcept;
  /// For the library's own use.
  [[nodiscard]] detail::checkpoint::Increment* increment() const { return increment_.get(); }

 private:
  friend class CheckpointSave;
  struct Section {
    std::string name;
    std::uint64_t bytes;
    DatatypeKind type;
    Read read;
    bool is_view;  ///< of memory of the caller
  };
  void write(const std::function<void()>& after_piece) const;
  /// Keeps copies of what the caller passed as memory.
  void copy_views();
  std::filesystem::path folder_;
  int rank_;
  std::vector<Section> sections_;
  std::shared_ptr<detail::checkpoint::Increment> increment_;  ///< null unless the save is incremental
};

/// Makes the parts of ranks 0 to parts - 1 the folder's checkpoint, and removes older parts, and drafts that a killed
/// save has left. One rank calls it, after every rank's write().
TUTTI_EXPORT void commit_checkpoint(const std::filesystem::path& folder, int parts);

/// The files of one save.
struct SavedGeneration {
  std::uint64_t number = 0;
  std::size_t parts = 0;
  std::uint64_t bytes = 0;  ///< of all parts
};

/// Reads a checkpoint, on any number of ranks: it finds each section, whichever rank and save wrote it. Opening checks
/// the manifest and the tables; reading a section checks that section. A damaged checkpoint is a tutti::Error (io) that
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
  /// The saves that make up the checkpoint: a full one and the increments since. The last one was saved last.
  [[nodiscard]] const std::vector<SavedGeneration>& generations() const { return generations_; }

 private:
  struct Entry;
  void open(const detail::checkpoint::Generation& generation);
  [[nodiscard]] const Entry& find(const std::string& name) const;
  std::filesystem::path folder_;
  std::vector<Entry> entries_;
  std::vector<SavedGeneration> generations_;
};

/// Saves what each rank adds to its part, and commits it. Collective over `comm`, blocking. `add` is called once on
/// each rank, or twice where an incremental save turns out to be full; the memory that it adds must stay valid and
/// unchanged until the end. Errors: those of CheckpointPart::write; if a rank fails, all throw the error of the first
/// such rank, and the checkpoint that the folder had stays valid.
TUTTI_EXPORT void save_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                                  const std::function<void(CheckpointPart&)>& add, SaveKind kind = SaveKind::full);

/// A save that goes on beside training. On each rank a thread, which calls neither MPI nor Tutti, writes the part, and
/// that of rank 0 commits all; the bytes are those that save_checkpoint() would have written at the start. Where a rank
/// has no second core, the thread rests most of the time, until wait(). Memory: a copy of what `add` passed as memory,
/// and for an EmbeddingCollection the rows that change before they are written (EmbeddingCollection::add_to).
/// Counterpart: async_save of torch.distributed.checkpoint.
class TUTTI_EXPORT CheckpointSave {
 public:
  /// No save: test() is true.
  CheckpointSave() noexcept;
  /// Starts a save. `add` is called on each rank as by save_checkpoint(), here. Collective over `comm`; blocks only
  /// until all ranks have added. Another save to the folder may start when this one has ended. Errors: if a rank fails,
  /// all throw the error of the first such rank.
  CheckpointSave(const Communicator& comm, const std::filesystem::path& folder,
                 const std::function<void(CheckpointPart&)>& add, SaveKind kind = SaveKind::full);
  /// Local. Gives up a save that has not ended: waits until the thread has written its piece, or flushed its file. The
  /// checkpoint that the folder had stays valid, unless the new one is being committed.
  ~CheckpointSave();
  CheckpointSave(CheckpointSave&&) noexcept;
  CheckpointSave& operator=(CheckpointSave&&) noexcept;

  /// Whether the save has been written by all ranks and committed. Collective over the communicator, also where there
  /// are other collectives between two calls, and equal on all ranks. Nonblocking, except for the few short collectives
  /// of the call that returns true: each call learns how far the ranks were at the last one. Errors, from this call or
  /// wait(): as save_checkpoint(); the save has ended then.
  bool test();
  /// Waits for the end of the save. Collective over the communicator, blocking.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Opens the checkpoint on each rank, which reads what it needs. Collective over `comm`, blocking. `read` is called
/// once on each rank that can open it. Errors: as save_checkpoint(); ranks that did not fail have read.
TUTTI_EXPORT void load_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                                  const std::function<void(const CheckpointReader&)>& read);

}  // namespace tutti
