// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/world.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/draft.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail::trace {
namespace {

constexpr int tag_of_pieces = 1;
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// The last piece is shorter than the others, or empty.
std::string send_file(MPI_Comm comm, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string problem = file ? "" : path + " cannot be read: " + std::strerror(errno);
  std::vector<char> piece(piece_bytes);
  std::streamsize bytes = piece_bytes;
  while (bytes == static_cast<std::streamsize>(piece_bytes)) {
    file.read(piece.data(), bytes);
    bytes = file.gcount();
    check_mpi(MPI_Send(piece.data(), static_cast<int>(bytes), MPI_BYTE, 0, tag_of_pieces, comm), "MPI_Send");
  }
  return problem;
}

bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(file, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Takes all pieces, whether or not they can be written.
std::string receive_file(MPI_Comm comm, int from, const std::string& path) {
  Draft file(path);
  bool is_whole = file.valid();
  int error = errno;
  std::vector<char> piece(piece_bytes);
  int bytes = static_cast<int>(piece_bytes);
  while (bytes == static_cast<int>(piece_bytes)) {
    MPI_Status status;
    check_mpi(MPI_Recv(piece.data(), static_cast<int>(piece_bytes), MPI_BYTE, from, tag_of_pieces, comm, &status),
              "MPI_Recv");
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    if (!is_whole || write_all(file.get(), piece.data(), static_cast<std::size_t>(bytes))) continue;
    error = errno;
    is_whole = false;
  }
  if (is_whole && file.publish()) return "";
  return path + " cannot be written: " + std::strerror(is_whole ? errno : error);
}

}  // namespace

std::string carry_file(MPI_Comm comm, int from, const std::string& path) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank == from ? send_file(comm, path) : receive_file(comm, from, path);
}

}  // namespace tutti::detail::trace
