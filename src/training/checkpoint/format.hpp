// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/services.hpp"

/// The files of a checkpoint. A part has a header of 32 bytes (magic, version, length and checksum of the table), the
/// table (JSON: name, offset, bytes and crc of each section), and the sections, each at a multiple of 64 bytes. The
/// manifest has a header of the same form, then JSON (generation, and the checksum of each part's table). With
/// increments it has version 2 and, under "before", the same of the saves that the last one adds to, the oldest first.
namespace tutti::detail::checkpoint {

struct Section {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

/// The parts of one save.
struct Generation {
  std::uint64_t number = 0;
  std::vector<std::uint32_t> part_crcs{};  ///< checksums of the parts' tables, by rank
};

/// A full save and the increments since.
struct Manifest {
  std::vector<Generation> generations;  ///< at least one
  /// Differs between any two checkpoints of a folder; never 0.
  [[nodiscard]] std::uint64_t identity() const;
};

/// `before`: the checksum of the content before, for content in pieces.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> content, std::uint32_t before = 0);
[[nodiscard]] std::filesystem::path manifest_path(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path part_path(const std::filesystem::path& folder, std::uint64_t generation, int rank);

/// Throws tutti::Error (io).
[[nodiscard]] std::uint64_t file_bytes(const std::filesystem::path& path);

/// The bytes of the parts of one save.
[[nodiscard]] std::uint64_t generation_bytes(const std::filesystem::path& folder, const Generation& generation);

/// A header followed by `text`: the start of a file.
[[nodiscard]] std::string with_header(const std::string& text, std::uint32_t version = 1);
/// Reads the text that with_header() wrote, and its checksum. Throws tutti::Error (io) if the file is damaged,
/// truncated or of another kind.
[[nodiscard]] std::string read_headed(const std::filesystem::path& path, const std::string& what, std::uint32_t* crc);

/// The JSON of tables and manifests. Throw tutti::Error: io, if a file is damaged; invalid_argument, if a name is not
/// UTF-8.
[[nodiscard]] std::string table_text(const std::vector<Section>& sections);
[[nodiscard]] std::vector<Section> read_table(const std::filesystem::path& part, std::uint32_t* crc);
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);

/// The valid checkpoint, if the folder has one.
[[nodiscard]] std::optional<Manifest> find_manifest(const std::filesystem::path& folder);
/// The generation that the next save writes: one above the valid one, if there is one.
[[nodiscard]] std::uint64_t next_generation(const std::optional<Manifest>& valid);
[[nodiscard]] std::uint64_t next_generation(const std::filesystem::path& folder);
/// As commit_checkpoint(), by which parts are added to the checkpoint of identity `base`, unless it is 0. Returns the
/// identity of the new one.
std::uint64_t commit(const std::filesystem::path& folder, int parts, std::uint64_t base);

/// A file that gets its name, and is flushed to disk, when it is whole. All throw tutti::Error (io).
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  void write(std::uint64_t offset, std::span<const std::byte> content);
  void publish();

 private:
  std::filesystem::path path_;
  Draft draft_;
};
/// Flushes a folder's entries to disk.
void sync_folder(const std::filesystem::path& folder);

}  // namespace tutti::detail::checkpoint
