// SPDX-License-Identifier: BSD-3-Clause
#include "tools/drawing.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <tutti/error.hpp>

#include "core/run_program.hpp"
#include "tools/program.hpp"

namespace tutti::tools {

void write_drawing(const std::string& path, const std::string& json, std::string_view by) {
  const std::string program = (own_root() / TUTTI_DATA_FOLDER / "tutti" / by).string();
  // Neither variables nor packages of the user have a part in it, and nothing is written beside it.
  const detail::ProgramEnd end =
      detail::run_program({.words = {"python3", "-B", "-I", "-S", program}, .input = json, .is_quiet = false});
  if (end.error != 0)
    throw Error(
        ErrorCode::not_supported,
        fmt::format("--svg needs python3, which cannot start here ({}): put it into PATH, or write the JSON "
                    "(explain: --json --all-ranks, or with --measure --json; topo: --json) and draw it elsewhere by {}",
                    std::strerror(end.error), program));
  if (end.status < 0)
    throw Error(ErrorCode::internal, "--svg: python3 was ended by a signal while it drew; is there too little memory?");
  if (end.status != 0) throw CLI::RuntimeError(1);  // it has said why
  write_file(path, end.output);
}

}  // namespace tutti::tools
