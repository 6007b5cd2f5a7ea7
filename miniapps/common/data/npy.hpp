// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.hpp"

namespace tutti::miniapps {

/// An array of numpy's in memory: a type such as "<i4", a shape, and elements in the order of C. It does not own them.
struct NpyArray {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::string_view data;  ///< its elements, perhaps not aligned

  [[nodiscard]] std::uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  [[nodiscard]] std::uint64_t elements() const;
  /// Element i of an array of T.
  template <typename T>
  [[nodiscard]] T at(std::uint64_t i) const {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

/// The header of a .npy file, version 1.0, as numpy writes it; its size is a multiple of 64.
[[nodiscard]] std::string npy_header(const std::string& type, const std::vector<std::uint64_t>& shape);

/// The array in the content of a .npy file. Throws tutti::Error (io), one line that begins with `name`, where it is
/// damaged, shorter than its shape, in the order of Fortran, or of a type that is not little-endian numbers.
[[nodiscard]] NpyArray parse_npy(std::string_view content, const std::string& name);

/// As parse_npy, of the begin of a content of `bytes` bytes: without the elements that it lacks.
[[nodiscard]] NpyArray parse_npy_begin(std::string_view begin, std::uint64_t bytes, const std::string& name);

/// Throws tutti::Error (io) where type or number of dimensions of an array is another one.
void expect_npy(const NpyArray& array, const std::string& name, const std::string& type, std::size_t dimensions);

/// As parse_npy and expect_npy.
[[nodiscard]] NpyArray parse_npy(std::string_view content, const std::string& name, const std::string& type,
                                 std::size_t dimensions);

/// The members of a .npz file, which is a zip. Stored members are used where they are mapped; deflated ones are
/// decompressed at the first use. Lives longer than the arrays that it gives.
class NpzFile {
 public:
  /// Throws tutti::Error (io), one line that names the file, where it is no zip or cut.
  explicit NpzFile(const std::filesystem::path& path);

  [[nodiscard]] bool has(const std::string& member) const { return members_.contains(member); }
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  /// Whether a member is decompressed to be used.
  [[nodiscard]] bool is_deflated(const std::string& member) const;
  /// The array of a member such as "0.npy", with the errors of parse_npy, and where its checksum is wrong (deflated
  /// members; stored ones are not read through).
  [[nodiscard]] NpyArray array(const std::string& member, const std::string& type, std::size_t dimensions);
  /// The shape of that array, of which the begin is decompressed at most.
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& member, const std::string& type,
                                                 std::size_t dimensions) const;

 private:
  struct Member {
    std::string_view packed;
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
    unsigned method = 0;  ///< 0: stored, 8: deflated
    std::string unpacked{};
  };
  [[nodiscard]] const Member& member(const std::string& name) const;
  [[nodiscard]] Member read_entry(std::string_view& directory, std::string& name) const;
  void check_size(std::string_view part, std::size_t bytes) const;

  MappedFile file_;
  std::map<std::string, Member> members_;
};

/// A member that a zip stores: what its headers say.
struct ZipMember {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t offset = 0;  ///< of its local header
};

/// The header in front of a stored member, with sizes of 64 bits as numpy writes them, whose length readers such as
/// MLPerf's assume: 30 bytes, the name, 20 bytes.
[[nodiscard]] std::string zip_local_header(const ZipMember& member);

/// What follows the members: the directory, which begins at `offset`.
[[nodiscard]] std::string zip_directory(const std::vector<ZipMember>& members, std::uint64_t offset);

}  // namespace tutti::miniapps
