// SPDX-License-Identifier: BSD-3-Clause
#include "recovery.hpp"

#include <filesystem>

#include "checkpoint_folders.hpp"

namespace tutti::miniapps {

std::string recover(const char* program, Communicator& comm, const std::string& checkpoints, const std::string& load) {
  comm = comm.shrink();
  std::string from = load;
  run_agreed(comm, [&] {
    if (!checkpoints.empty() && std::filesystem::exists(newest_checkpoint(checkpoints) / "manifest")) {
      from = checkpoints;
    }
  });
  if (comm.rank() == 0) {
    std::fprintf(stderr, "%s: %d rank(s) go on from %s\n", program, comm.size(),
                 from.empty() ? "the beginning" : from.c_str());
  }
  return from;
}

}  // namespace tutti::miniapps
