// SPDX-License-Identifier: BSD-3-Clause
#include "core/run_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace tutti::detail {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file in memory, so that neither program waits for the other to read; null with errno if there is no room.
File file_of(std::string_view text) {
  const int descriptor = ::memfd_create("tutti", MFD_CLOEXEC);
  if (descriptor < 0) return {nullptr, std::fclose};
  File file(::fdopen(descriptor, "w+"), std::fclose);
  if (!file) {
    ::close(descriptor);
    return file;
  }
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), file.get()) != text.size())
    return {nullptr, std::fclose};
  if (std::fflush(file.get()) != 0) return {nullptr, std::fclose};
  std::rewind(file.get());
  return file;
}

std::string text_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), count);
  return text;
}

std::vector<char*> environment_of(const Program& program) {
  std::vector<char*> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (!program.is_bare || !std::string_view(*entry).starts_with("LD_")) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

int start(Program& program, int input, int output, pid_t& process) {
  std::vector<char*> words;
  for (std::string& word : program.words) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (program.is_quiet) ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = ::posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environment_of(program).data());
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

ProgramEnd run_program(Program program) {
  const File input = file_of(program.input);
  const File output = file_of({});
  if (!input || !output) return {.error = errno};
  pid_t process = 0;
  ProgramEnd end{.error = start(program, ::fileno(input.get()), ::fileno(output.get()), process)};
  if (end.error != 0) return end;
  end.status = status_of(process);
  end.output = text_of(output.get());
  return end;
}

}  // namespace tutti::detail
