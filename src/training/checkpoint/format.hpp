// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "collectives/services.hpp"

/// The files of a checkpoint. A part has a header of 32 bytes (magic, version, length and checksum of the table), the
/// table (JSON: name, offset, bytes and crc of each section), and the sections, each at a multiple of 64 bytes. The
/// manifest has a header of the same form, then JSON (generation, and the checksum of each part's table).
namespace tutti::detail::checkpoint {

struct Section {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

struct Manifest {
  std::uint64_t generation = 0;
  std::vector<std::uint32_t> part_crcs;  ///< checksums of the parts' tables, by rank
};

/// `before`: the checksum of the content before, for content in pieces.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> content, std::uint32_t before = 0);
[[nodiscard]] std::filesystem::path manifest_path(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path part_path(const std::filesystem::path& folder, std::uint64_t generation, int rank);

/// Throws tutti::Error (io).
[[nodiscard]] std::uint64_t file_bytes(const std::filesystem::path& path);

/// A header followed by `text`: the start of a file.
[[nodiscard]] std::string with_header(const std::string& text);
/// Reads the text that with_header() wrote, and its checksum. Throws tutti::Error (io) if the file is damaged,
/// truncated or of another kind.
[[nodiscard]] std::string read_headed(const std::filesystem::path& path, const std::string& what, std::uint32_t* crc);

/// The JSON of tables and manifests. Throw tutti::Error: io, if a file is damaged; invalid_argument, if a name is not
/// UTF-8.
[[nodiscard]] std::string table_text(const std::vector<Section>& sections);
[[nodiscard]] std::vector<Section> read_table(const std::filesystem::path& part, std::uint32_t* crc);
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);

/// The generation that the next save writes: one above the valid one.
[[nodiscard]] std::uint64_t next_generation(const std::filesystem::path& folder);

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
