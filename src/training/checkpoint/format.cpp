// SPDX-License-Identifier: BSD-3-Clause
#include "training/checkpoint/format.hpp"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

namespace tutti::detail::checkpoint {

namespace {

constexpr std::uint32_t last_version = 2;  // 1: no increments

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t text_crc;
  std::uint64_t text_bytes;
  std::uint32_t reserved;
  std::uint32_t header_crc;  ///< of all before it
};
static_assert(sizeof(Header) == 32);

constexpr char magic[8] = {'T', 'U', 'T', 'T', 'I', 'C', 'K', 'P'};

std::uint32_t crc_of(const void* data, std::size_t bytes) {
  return checksum({static_cast<const std::byte*>(data), bytes});
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, const std::string& problem) {
  throw Error(ErrorCode::io,
              "checkpoint file " + path.string() + ": " + what + " " + problem + "; use another checkpoint");
}

/// What `take` makes of a file's JSON. A right checksum does not say that this program wrote it.
template <typename Take>
auto read_json(const std::filesystem::path& path, const std::string& what, std::uint32_t* crc, const Take& take) {
  const std::string text = read_headed(path, what, crc);
  try {
    return take(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception&) {
    fail(path, what, "is damaged (its checksum is right, its content is not)");
  }
}

std::uint64_t number(const nlohmann::json& value) { return value.get_ref<const nlohmann::json::number_unsigned_t&>(); }

std::uint32_t crc_in(const nlohmann::json& value) { return static_cast<std::uint32_t>(number(value)); }

nlohmann::json json_of(const Generation& generation) {
  return {{"generation", generation.number}, {"part_crcs", generation.part_crcs}};
}

Generation generation_of(const nlohmann::json& json) {
  Generation generation{number(json.at("generation"))};
  for (const auto& crc : json.at("part_crcs")) {
    generation.part_crcs.push_back(crc_in(crc));
  }
  return generation;
}

}  // namespace

std::uint64_t Manifest::identity() const {
  const std::string text = manifest_text(*this);
  return generations.back().number << 32U | crc_of(text.data(), text.size());
}

std::uint32_t checksum(std::span<const std::byte> content, std::uint32_t before) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

std::filesystem::path manifest_path(const std::filesystem::path& folder) { return folder / "manifest"; }

std::filesystem::path part_path(const std::filesystem::path& folder, std::uint64_t generation, int rank) {
  return folder / ("part-" + std::to_string(generation) + "-" + std::to_string(rank));
}

std::uint64_t file_bytes(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    throw Error(ErrorCode::io, path.string() + ": its size cannot be read: " + error.message());
  }
  return bytes;
}

std::uint64_t generation_bytes(const std::filesystem::path& folder, const Generation& generation) {
  std::uint64_t bytes = 0;
  for (std::size_t rank = 0; rank < generation.part_crcs.size(); ++rank) {
    bytes += file_bytes(part_path(folder, generation.number, static_cast<int>(rank)));
  }
  return bytes;
}

std::string with_header(const std::string& text, std::uint32_t version) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = version;
  header.text_crc = crc_of(text.data(), text.size());
  header.text_bytes = text.size();
  header.header_crc = crc_of(&header, offsetof(Header, header_crc));
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + text;
}

std::string read_headed(const std::filesystem::path& path, const std::string& what, std::uint32_t* crc) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorCode::io, path.string() + ": cannot be opened; is " + path.parent_path().string() +
                                   " the folder of a checkpoint?");
  }
  Header header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) {
    fail(path, "the header", "is truncated");
  }
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) {
    fail(path, "the header", "is damaged, or this is not a checkpoint (its first bytes differ)");
  }
  if (header.header_crc != crc_of(&header, offsetof(Header, header_crc))) {
    fail(path, "the header", "is damaged (checksum)");
  }
  if (header.version < 1 || header.version > last_version) {
    fail(path, "the header",
         "has version " + std::to_string(header.version) + ", but this program reads versions 1 and 2");
  }
  if (header.text_bytes > file_bytes(path) - sizeof header) {
    fail(path, what, "is truncated");
  }
  std::string text(header.text_bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) ||
      crc_of(text.data(), text.size()) != header.text_crc) {
    fail(path, what, "is damaged (checksum)");
  }
  if (crc != nullptr) {
    *crc = header.text_crc;
  }
  return text;
}

std::string table_text(const std::vector<Section>& sections) {
  auto json = nlohmann::json::array();
  for (const Section& s : sections) {
    json.push_back({{"name", s.name}, {"offset", s.offset}, {"bytes", s.bytes}, {"crc", s.crc}});
  }
  try {
    return json.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::invalid_argument, "checkpoint: a section's name is not UTF-8; choose another name");
  }
}

std::vector<Section> read_table(const std::filesystem::path& part, std::uint32_t* crc) {
  return read_json(part, "the table of sections", crc, [](const nlohmann::json& table) {
    std::vector<Section> sections;
    for (const auto& entry : table) {
      sections.push_back(
          {entry.at("name"), number(entry.at("offset")), number(entry.at("bytes")), crc_in(entry.at("crc"))});
    }
    return sections;
  });
}

std::string manifest_text(const Manifest& manifest) {
  nlohmann::json json = json_of(manifest.generations.back());
  for (std::size_t i = 0; i + 1 < manifest.generations.size(); ++i) {
    json["before"].push_back(json_of(manifest.generations[i]));
  }
  return json.dump();
}

Manifest read_manifest(const std::filesystem::path& folder) {
  return read_json(manifest_path(folder), "the manifest", nullptr, [](const nlohmann::json& json) {
    Manifest manifest;
    for (const auto& before : json.value("before", nlohmann::json::array())) {
      manifest.generations.push_back(generation_of(before));
    }
    manifest.generations.push_back(generation_of(json));
    return manifest;
  });
}

}  // namespace tutti::detail::checkpoint
