// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + ".tmp" + std::to_string(::getpid());
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw Error(ErrorCode::io, path.string() + ": cannot be written; name a file in a folder that can be written");
}

}  // namespace

void write_text(const std::filesystem::path& path, const std::string& text) {
  const auto temporary = temporary_name(path);
  std::ofstream file(temporary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return;
  std::filesystem::remove(temporary, error);
  fail(path);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::io, path.string() + ": cannot be read; name a file that can be read");
  return text.str();
}

void check_writable(const std::filesystem::path& path) {
  const auto temporary = temporary_name(path);
  std::error_code error;
  const bool is_writable = std::ofstream(temporary).good() && !std::filesystem::is_directory(path, error);
  std::filesystem::remove(temporary, error);
  if (!is_writable) fail(path);
}

}  // namespace tutti::miniapps
