// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace tutti::miniapps {

/// The content of a file, mapped for reading from its begin to its end. Pages come when they are touched.
class MappedFile {
 public:
  /// Throws tutti::Error (io) that names the file where it cannot be opened or mapped, or is a folder. An empty file
  /// has an empty content.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::string_view content() const { return content_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string_view content_;
};

}  // namespace tutti::miniapps
