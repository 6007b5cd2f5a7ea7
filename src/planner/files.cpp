// SPDX-License-Identifier: BSD-3-Clause
#include "planner/files.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tutti/error.hpp>

#include "core/draft.hpp"

namespace tutti::detail::tuning {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "tuning.json";

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void throw_io(const fs::path& path, const char* what) {
  const int error = errno;
  throw Error(ErrorCode::io, fmt::format("{}: {} ({})", path.string(), what, std::strerror(error)));
}

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void write_all(const Draft& file, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw_io(path, "cannot be written");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

fs::path cache_file() {
  // Ignores a relative path in XDG_CACHE_HOME, as the XDG Base Directory Specification requires.
  if (const fs::path folder = environment("XDG_CACHE_HOME"); folder.is_absolute()) return folder / "tutti" / file_name;
  if (const fs::path home = environment("HOME"); home.is_absolute()) return home / ".cache" / "tutti" / file_name;
  return {};
}

namespace {

fs::path find_install_file() {
  Dl_info info{};
  link_map* module = nullptr;
  const auto* here = reinterpret_cast<const void*>(&find_install_file);
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0 || module == nullptr) return {};
  const bool is_program = *module->l_name == '\0';  // of which the loader knows argv[0] alone
  std::error_code error;
  fs::path folder = fs::canonical(is_program ? "/proc/self/exe" : module->l_name, error).parent_path();
  if (error) return {};
  if (folder.parent_path().filename() == "glibc-hwcaps") folder = folder.parent_path().parent_path();
  const char* const data = is_program ? TUTTI_DATADIR_FROM_BINDIR : TUTTI_DATADIR_FROM_LIBDIR;
  return (folder / data / "tutti" / file_name).lexically_normal();
}

}  // namespace

// A loaded library does not move.
fs::path install_file() {
  static const fs::path found = find_install_file();
  return found;
}

std::optional<std::string> read_file(const fs::path& path) {
  // Opens without blocking, in case the file is a named pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw Error(ErrorCode::io, fmt::format("it cannot be opened ({})", std::strerror(errno)));
  }
  struct stat state {};
  if (::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode))
    throw Error(ErrorCode::io, "it is not a regular file");
  std::string text;
  std::size_t length = 0;
  const std::size_t room = static_cast<std::size_t>(state.st_size) + 1;  // one more, to see the end or a file that grew
  while (length <= longest_file) {
    text.resize(std::min(length + room, longest_file + 1));
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorCode::io, fmt::format("it cannot be read ({})", std::strerror(errno)));
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > longest_file) throw Error(ErrorCode::io, fmt::format("it is longer than {} bytes", longest_file));
  text.resize(length);
  return text;
}

void write_file(const fs::path& path, std::string_view text) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  Draft file(path, 0644);
  if (!file.valid()) throw_io(path, "cannot be written");
  write_all(file, text, path);
  if (::fsync(file.get()) != 0 || !file.publish()) throw_io(path, "cannot be written");
}

}  // namespace tutti::detail::tuning
