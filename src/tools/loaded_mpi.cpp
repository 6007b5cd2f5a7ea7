// SPDX-License-Identifier: BSD-3-Clause
#include "tools/loaded_mpi.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tutti/error.hpp>

#include "core/run_program.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view abi = "libmpi_abi.so";
constexpr const char* file_for_abi = "libtutti-mpi-abi.so";
constexpr const char* file_for_others = "libtutti-mpi.so";

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// The file that execvp would start; empty if there is none.
std::string file_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (fs::path(folder) / program).string();
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

/// The dynamic linker that a program names; empty for all but dynamic programs of 64 bits.
std::string linker_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr head{};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head)) return "";  // NOLINT: a file's bytes
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return "";
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    in.seekg(static_cast<std::streamoff>(head.e_phoff) + static_cast<std::streamoff>(i) * head.e_phentsize);
    if (!in.read(reinterpret_cast<char*>(&part), sizeof part)) return "";  // NOLINT: a file's bytes
    if (part.p_type != PT_INTERP || part.p_filesz > 4096) continue;
    std::string name(part.p_filesz, '\0');
    in.seekg(static_cast<std::streamoff>(part.p_offset));
    in.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.c_str();
  }
  return "";
}

/// Levels of x86-64 that this processor has, the best first. The loader chooses by them among the folders glibc-hwcaps,
/// but not for a library that is named with its folder, as LD_PRELOAD must.
std::vector<std::string> processor_levels() {
  std::vector<std::string> levels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (has_v3 && has_v4) levels.emplace_back("x86-64-v4");
  if (has_v3) levels.emplace_back("x86-64-v3");
#endif
  return levels;
}

}  // namespace

std::string file_in(const std::vector<fs::path>& folders, const char* name) {
  std::error_code error;
  for (const fs::path& folder : folders) {
    for (const std::string& level : processor_levels())
      if (const fs::path better = folder / "glibc-hwcaps" / level / name; fs::exists(better, error))
        return better.string();
    if (fs::exists(folder / name, error)) return (folder / name).string();
  }
  return "";
}

namespace {

[[noreturn]] void throw_not_there(const std::string& mpi, const std::vector<fs::path>& folders, bool is_abi) {
  const char* const wanted = is_abi ? file_for_abi : file_for_others;
  const char* const other = is_abi ? file_for_others : file_for_abi;
  const std::string lies = file_in(folders, other);
  const std::string why = lies.empty() ? "" : fmt::format(" ({} is for another binary interface than {})", lies, mpi);
  throw Error(ErrorCode::not_built,
              fmt::format("run: no {} lies in {}{}; build Tutti with TUTTI_ENABLE_PRELOAD=ON and TUTTI_MPI_ABI={}, or "
                          "name the file by --library",
                          wanted, folders.front().string(), why, is_abi ? "ON" : "OFF"));
}

}  // namespace

std::string mpi_loaded_by(const std::string& program) {
  const std::string file = file_of(program);
  const std::string linker = linker_of(file);
  if (linker.empty()) return "";
  std::istringstream words(detail::run_program({.words = {linker, "--list", file}}).output);
  std::string found;
  for (std::string word; words >> word;) {
    if (begins(word, abi)) return word;
    if (begins(word, "libmpi.so") || begins(word, "libmpich.so")) found = word;
  }
  return found;
}

std::string library_for(const std::string& mpi, const std::vector<fs::path>& folders) {
  const bool is_abi = begins(mpi, abi);
  const std::string for_abi = file_in(folders, file_for_abi);
  std::string library = is_abi ? for_abi : file_in(folders, file_for_others);
  if (library.empty() && mpi.empty()) library = for_abi;
  if (library.empty()) throw_not_there(mpi, folders, is_abi);
  return library;
}

}  // namespace tutti::tools
