// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tutti/error.hpp>

#include "report.hpp"

namespace tutti::commbench {
namespace {

std::string temporary_name(const std::string& path) { return path + ".tmp" + std::to_string(::getpid()); }

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorCode::io, path + ": cannot be written; name a file in a folder that can be written");
}

}  // namespace

void write_text(const std::string& path, const std::string& text) {
  const std::string temporary = temporary_name(path);
  std::ofstream file(temporary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return;
  std::filesystem::remove(temporary, error);
  fail(path);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::io, path + ": cannot be read; name a file that tutti-commbench --json wrote");
  return text.str();
}

void check_writable(const std::string& path) {
  const std::string temporary = temporary_name(path);
  std::error_code error;
  const bool is_writable = std::ofstream(temporary).good() && !std::filesystem::is_directory(path, error);
  std::filesystem::remove(temporary, error);
  if (!is_writable) fail(path);
}

}  // namespace tutti::commbench
