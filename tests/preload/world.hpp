// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "preload/forms.hpp"

namespace tutti::test {

/// The calls of this process that libtutti-mpi has made; 0 where it is not loaded, or not told to count them.
inline std::uint64_t calls_through_library() {
  using Ask = void (*)(unsigned long long*, unsigned long long*);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): a function by its name
  const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "tutti_mpi_calls"));
  unsigned long long through = 0;
  unsigned long long passed = 0;
  if (ask != nullptr) ask(&through, &passed);
  return through;
}

inline bool is_library_loaded() { return dlsym(RTLD_DEFAULT, "tutti_mpi_calls") != nullptr; }

/// Whether a tool is loaded before libtutti-mpi for which nonblocking collectives are the MPI's.
inline bool is_behind_tool_that_asks() { return dlsym(RTLD_DEFAULT, "tutti_test_tool_asks") != nullptr; }

inline std::string mpi_name() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text;
}

/// Whether the MPI ends the program in spite of MPI_ERRORS_RETURN, as libmpi_abi.so of Intel MPI 2021.19 does.
inline bool returns_no_error() {
#ifdef MPI_ABI_VERSION
  return mpi_name().find("Intel(R) MPI") != std::string::npos;
#else
  return false;
#endif
}

/// libtutti-mpi has its own side of a communicator from that collective on, if it is worth its time, or from a
/// persistent one.
constexpr int first_calls = 100;

/// In so many blocking calls each communicator has become worth it.
constexpr int most_calls_for_side = 1 << 18;

/// Calls go through the library afterwards.
inline void make_side(MPI_Comm comm) {
#if TUTTI_TEST_HAS_PERSISTENT
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
#else
  const std::uint64_t before = calls_through_library();
  const int most = std::getenv("TUTTI_MPI_REPORT") != nullptr ? most_calls_for_side : 16 * first_calls;
  for (int i = 0; i < most && calls_through_library() == before; ++i) MPI_Barrier(comm);
#endif
}

/// A part of the world, in which all ranks are, but in another order.
inline MPI_Comm new_communicator() {
  int rank = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
  return made;
}

/// The ranks of MPI_COMM_WORLD in reverse order. Calls go through the library.
class ReversedWorld {
 public:
  ReversedWorld() {
    make_side(comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~ReversedWorld() { MPI_Comm_free(&comm_); }
  ReversedWorld(const ReversedWorld&) = delete;
  ReversedWorld& operator=(const ReversedWorld&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  MPI_Comm comm_ = new_communicator();
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace tutti::test
