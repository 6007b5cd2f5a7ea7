// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fstream>
#include <tutti/checkpoint.hpp>
#include <tutti/error.hpp>
#include <unordered_map>

#include "training/checkpoint/format.hpp"

namespace tutti {

namespace checkpoint = detail::checkpoint;

struct CheckpointReader::Entry {
  checkpoint::Section section;
  std::filesystem::path part;
};

CheckpointReader::CheckpointReader(std::filesystem::path folder) : folder_(std::move(folder)) {
  const auto manifest = checkpoint::read_manifest(folder_);
  for (const auto& generation : manifest.generations) {
    open(generation);
  }
}

void CheckpointReader::open(const detail::checkpoint::Generation& generation) {
  SavedGeneration& opened = generations_.emplace_back();
  opened = {generation.number, generation.part_crcs.size(), 0};
  std::unordered_map<std::string, std::size_t> earlier;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    earlier.emplace(entries_[i].section.name, i);
  }
  for (std::size_t rank = 0; rank < generation.part_crcs.size(); ++rank) {
    const auto part = checkpoint::part_path(folder_, generation.number, static_cast<int>(rank));
    std::uint32_t crc = 0;
    const auto sections = checkpoint::read_table(part, &crc);
    if (crc != generation.part_crcs[rank]) {
      throw Error(ErrorCode::io, "checkpoint file " + part.string() +
                                     ": the checksum of its table differs from the manifest's; use another checkpoint");
    }
    const auto size = checkpoint::file_bytes(part);
    opened.bytes += size;
    for (const auto& section : sections) {
      const bool is_inside = section.offset <= size && section.bytes <= size - section.offset;
      if (section.bytes > 0 && !is_inside) {
        throw Error(ErrorCode::io, "checkpoint file " + part.string() + ": section '" + section.name +
                                       "' is truncated; use another checkpoint");
      }
      const auto replaced = earlier.find(section.name);
      (replaced == earlier.end() ? entries_.emplace_back() : entries_[replaced->second]) = {section, part};
    }
  }
}

CheckpointReader::~CheckpointReader() = default;

bool CheckpointReader::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.section.name == name; });
}

const CheckpointReader::Entry& CheckpointReader::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.section.name == name; });
  if (found == entries_.end()) {
    throw Error(ErrorCode::io, "checkpoint " + folder_.string() + ": has no section '" + name +
                                   "'; was it saved by the same model and optimizer?");
  }
  return *found;
}

std::vector<std::string> CheckpointReader::names() const {
  std::vector<std::string> names;
  for (const Entry& e : entries_) {
    names.push_back(e.section.name);
  }
  return names;
}

std::size_t CheckpointReader::bytes(const std::string& name) const { return find(name).section.bytes; }

void CheckpointReader::read(const std::string& name, std::span<std::byte> out) const {
  const Entry& entry = find(name);
  if (out.size() != entry.section.bytes) {
    throw Error(ErrorCode::io, "checkpoint " + folder_.string() + ": section '" + name + "' has " +
                                   std::to_string(entry.section.bytes) + " bytes, but this model needs " +
                                   std::to_string(out.size()));
  }
  std::ifstream file(entry.part, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(entry.section.offset));
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()))) {
    throw Error(ErrorCode::io, "checkpoint file " + entry.part.string() + ": section '" + name + "' cannot be read");
  }
  if (checkpoint::checksum(out) != entry.section.crc) {
    throw Error(ErrorCode::io, "checkpoint file " + entry.part.string() + ": section '" + name +
                                   "' is damaged (checksum); use another checkpoint");
  }
}

std::string CheckpointReader::text(const std::string& name) const {
  std::string text(bytes(name), '\0');
  read(name, std::as_writable_bytes(std::span(text)));
  return text;
}

void CheckpointReader::verify() const {
  for (const Entry& e : entries_) {
    (void)text(e.section.name);
  }
}

}  // namespace tutti
