// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tutti::preload {

/// A communicator of the program, as recorders and records name it.
struct Watched {
  std::uint64_t mark = 0;  ///< equal on its ranks, and no other's; 0: it is not watched
  std::uint32_t row = 0;   ///< in the flight recorder
  int rank = 0;
  std::vector<int> world{};  ///< its ranks in MPI_COMM_WORLD
  std::string name{};
  std::string place{};  ///< of the call that made it

  [[nodiscard]] int size() const { return static_cast<int>(world.size()); }
  /// "communicator 'MPI_COMM_WORLD'".
  [[nodiscard]] std::string text() const;
};

/// The intracommunicators of the program. A mark is made without a message: from the ranks, and the number of
/// communicators that the same ranks have had before, because all of them make these in the same order. Any thread.
class Communicators {
 public:
  /// Takes in those that MPI has from its start. job: equal on all ranks.
  void open(std::uint64_t job);
  /// A new one; nothing for intercommunicators, MPI_COMM_NULL, and those with processes beside MPI_COMM_WORLD.
  void add(MPI_Comm comm);
  /// One that MPI_Comm_idup has begun to make.
  void add_copy(MPI_Comm from, MPI_Comm comm);
  void remove(MPI_Comm comm);
  /// Adds one that was made by a function that is not watched. Null for intercommunicators and handles that MPI
  /// refuses.
  [[nodiscard]] std::shared_ptr<const Watched> find(MPI_Comm comm);
  /// The same for a collective, and its number on the communicator.
  [[nodiscard]] std::pair<std::shared_ptr<const Watched>, std::uint32_t> next(MPI_Comm comm);
  /// The places of those that the program has not freed.
  [[nodiscard]] std::vector<std::string> left();

 private:
  struct Entry {
    std::shared_ptr<const Watched> comm{};
    std::uint32_t sequence = 0;
  };
  Entry* add_locked(MPI_Comm comm);
  Entry* add_locked(MPI_Comm comm, Watched made);
  Entry* find_locked(MPI_Comm comm);

  std::mutex mutex_{};
  std::uint64_t job_ = 0;
  std::map<MPI_Comm, Entry> all_{};
  std::map<std::uint64_t, std::uint32_t> had_{};  ///< communicators by the hash of their ranks
};

[[nodiscard]] Communicators& communicators();

}  // namespace tutti::preload
