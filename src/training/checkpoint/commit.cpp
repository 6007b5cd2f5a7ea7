// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>
#include <tutti/error.hpp>

#include "training/checkpoint/format.hpp"

namespace tutti::detail::checkpoint {

namespace {

Generation written_generation(const std::filesystem::path& folder, std::uint64_t number, int parts) {
  Generation generation{number};
  for (int rank = 0; rank < parts; ++rank) {
    std::uint32_t crc = 0;
    (void)read_table(part_path(folder, number, rank), &crc);
    generation.part_crcs.push_back(crc);
  }
  return generation;
}

void write_manifest(const std::filesystem::path& folder, const Manifest& manifest) {
  const std::string text = with_header(manifest_text(manifest), manifest.generations.size() > 1 ? 2 : 1);
  NewFile file(manifest_path(folder));
  file.write(0, std::as_bytes(std::span(text)));
  file.publish();
  sync_folder(folder);
}

/// Whether this is a draft of a manifest or a part: ".", the file's name, "." and 16 hexadecimal digits.
bool is_draft(std::string_view name) {
  constexpr std::size_t digits = 16;
  if (!name.starts_with(".manifest.") && !name.starts_with(".part-")) return false;
  const std::size_t dot = name.rfind('.');
  return name.size() - dot - 1 == digits && name.find_first_not_of("0123456789abcdef", dot + 1) == name.npos;
}

/// One save at a time is under way, and this one has ended: no draft is anybody's.
void remove_old_files(const std::filesystem::path& folder, const Manifest& manifest) {
  const auto is_valid = [&](const std::string& name) {
    return std::any_of(manifest.generations.begin(), manifest.generations.end(), [&](const Generation& generation) {
      return name.starts_with("part-" + std::to_string(generation.number) + "-");
    });
  };
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code kept;
    if (is_draft(name) || (name.starts_with("part-") && !is_valid(name))) std::filesystem::remove(entry->path(), kept);
  }
}

}  // namespace

std::uint64_t commit(const std::filesystem::path& folder, int parts, std::uint64_t base) {
  const auto valid = find_manifest(folder);
  if (base != 0 && (!valid || valid->identity() != base)) {
    throw Error(ErrorCode::io, folder.string() + ": another checkpoint came there during an incremental save; " +
                                   "save to a folder where nothing else does");
  }
  Manifest manifest = base == 0 ? Manifest{} : *valid;
  manifest.generations.push_back(written_generation(folder, next_generation(valid), parts));
  write_manifest(folder, manifest);
  remove_old_files(folder, manifest);
  return manifest.identity();
}

}  // namespace tutti::detail::checkpoint
