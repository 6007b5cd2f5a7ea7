// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "agree.hpp"
#include "command_line/start.hpp"

namespace tutti::miniapps {

/// Leaves `comm` with the ranks that live on, and says so. Returns the folder to go on from: `checkpoints` if there is
/// a whole checkpoint, else `load`, with which the run began. Collective over the ranks that live on; blocking.
[[nodiscard]] std::string recover(const char* program, Communicator& comm, const std::string& checkpoints,
                                  const std::string& load);

/// Runs `run(comm, options)` to its end and returns the exit code of the program. When a rank dies and
/// options.on_failure is shrink, the others begin anew from the last checkpoint; any other failure of one rank ends the
/// program on all.
template <typename Options, typename Run>
int run_to_exit_code(const char* program, Communicator comm, Options options, Run&& run) {
  const auto give_up = [&](const std::exception& error) { command_line::abort_all(program, comm.rank(), error); };
  while (true) {
    try {
      run(std::as_const(comm), std::as_const(options));
      return 0;
    } catch (const AgreedError& error) {
      if (comm.rank() == 0) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
      }
      return 1;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::peer_died || options.on_failure != "shrink") {
        give_up(error);
      }
      std::fprintf(stderr, "%s: rank %d: %s\n", program, comm.rank(), error.what());
    } catch (const std::exception& error) {
      give_up(error);
    }
    try {
      options.load = recover(program, comm, options.checkpoint_dir, options.load);
    } catch (const std::exception& error) {
      give_up(error);
    }
  }
}

}  // namespace tutti::miniapps
