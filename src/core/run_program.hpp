// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

/// A program to run.
struct Program {
  std::vector<std::string> words;  ///< its name, which is looked for in PATH, and its arguments
  std::string_view input{};        ///< what it reads from standard input
  bool is_quiet = true;            ///< what it writes to standard error is dropped
  bool is_bare = false;            ///< without the variables LD_..., which would load libraries into it
};

struct ProgramEnd {
  std::string output{};
  int error = 0;    ///< errno if it could not start
  int status = -1;  ///< exit status; -1: a signal ended it, or it could not start
};

/// Runs a program to its end.
[[nodiscard]] ProgramEnd run_program(Program program);

}  // namespace tutti::detail
