// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace tutti::miniapps {

/// How a file is compressed, by its first bytes; `none` for one that cannot be read.
enum class Packing { none, gzip, zstd };

[[nodiscard]] Packing packing_of(const std::filesystem::path& path);

/// The content of a compressed file, from its begin to its end.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  /// Fills `to`, less at the end alone; gives how many bytes. Throws tutti::Error (io), naming the file, where it is
  /// damaged or truncated.
  [[nodiscard]] virtual std::size_t read(std::span<char> to) = 0;
};

/// Whether this build reads files of zstd.
[[nodiscard]] bool has_zstd();

/// Of a file whose packing is not `none`. Throws tutti::Error: io where it cannot be opened, not_supported for zstd in
/// a build without it.
[[nodiscard]] std::unique_ptr<Unpacker> make_unpacker(const std::filesystem::path& path);

}  // namespace tutti::miniapps
