// SPDX-License-Identifier: BSD-3-Clause
// Runs of tutti-dlrm in one job, so that a script that compares many of them starts the ranks once. Each line of the
// standard input is a run: its arguments, with the character 31 between them. Rank 0 answers with a line: the character
// 30, then nothing, or the error that all ranks agree on. The end of the input ends the job.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <tutti/communicator.hpp>
#include <tutti/environment.hpp>
#include <vector>

#include "application.hpp"
#include "common/agree.hpp"
#include "options.hpp"

namespace {

/// What rank 0 gives, on every rank; the others sleep until it does, so that a job without work leaves the cores to
/// others.
void share(void* data, int bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  int done = 0;
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// False at the end of the input.
bool next_line(int rank, std::string& line) {
  int length = -1;
  if (rank == 0 && std::getline(std::cin, line)) length = static_cast<int>(line.size());
  share(&length, sizeof length);
  if (length < 0) return false;
  line.resize(static_cast<std::size_t>(length));
  share(line.data(), length);
  return true;
}

dlrm::ParseResult parsed(const std::string& line) {
  std::vector<std::string> words{"tutti-dlrm"};
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find('\x1f', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return dlrm::parse_options(static_cast<int>(arguments.size()), arguments.data());
}

/// The error that ended it; empty where none did.
std::string run(const std::string& line) {
  const dlrm::ParseResult result = parsed(line);
  if (result.stop) return result.text;
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  try {
    dlrm::run_application(comm, result.options);
  } catch (const tutti::miniapps::AgreedError& error) {
    return std::string("tutti-dlrm: ") + error.what();
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string line;
  try {
    while (next_line(rank, line)) {
      const std::string error = run(line);
      if (rank == 0) {
        std::printf("\x1e%s\n", error.c_str());
        std::fflush(stdout);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
