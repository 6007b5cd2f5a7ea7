// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// It lies beside the program's folder, in the build tree as where it is installed.
std::string chart_program() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / TUTTI_DATA_FOLDER / "tutti" / "chart.py").string();
}

/// Without a name, so that it ends with the program.
File file_of(const std::string& text) {
  File file(std::tmpfile(), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    throw Error(ErrorCode::io, "a temporary file cannot be written; make room in the folder for them, usually /tmp");
  std::rewind(file.get());
  return file;
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Gives the exit status; neither variables nor packages of the user have a part in it.
int run_python(std::vector<std::string> words, const std::string& input) {
  words.insert(words.begin(), {"python3", "-I", "-S"});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const File file = file_of(input);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(file.get()), STDIN_FILENO);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return status_of(process);
  throw Error(
      ErrorCode::not_supported,
      fmt::format("a chart needs python3, which cannot start here ({}): put it into PATH, or write the JSON and "
                  "draw it elsewhere by {}",
                  std::strerror(error), chart_program()));
}

}  // namespace

void draw_chart(const std::vector<std::string>& arguments, const std::string& document) {
  std::vector<std::string> words{chart_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (run_python(words, document) != 0) throw Error(ErrorCode::invalid_argument, "no chart was drawn, see above");
}

void check_chart(const std::filesystem::path& path) {
  check_writable(path);
  (void)run_python({"-c", ""}, {});
}

}  // namespace tutti::miniapps
