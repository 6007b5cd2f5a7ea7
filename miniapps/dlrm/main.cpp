// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <tutti/communicator.hpp>
#include <tutti/environment.hpp>

#include "application.hpp"
#include "common/agree.hpp"
#include "options.hpp"

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  const auto parsed = dlrm::parse_options(argc, argv);
  if (parsed.stop) {
    if (comm.rank() == 0) {
      std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    }
    return parsed.exit_code;
  }
  try {
    dlrm::run_application(comm, parsed.options);
  } catch (const tutti::miniapps::AgreedError& error) {
    if (comm.rank() == 0) {
      std::fprintf(stderr, "tutti-dlrm: %s\n", error.what());
    }
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-dlrm: rank %d: %s\n", comm.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
