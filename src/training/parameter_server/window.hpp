// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "training/parameter_server/access.hpp"

namespace tutti::detail::server {

/// The rows and words of all ranks in an MPI window that stays locked for shared access. Calls start operations on many
/// rows, one message for each target rank. finish() ends a round trip: it tests and yields until the results are here;
/// operations that fetch have been applied by then.
class RowWindow {
 public:
  /// Collective. Throws out_of_memory on all ranks.
  RowWindow(const Communicator& comm, const RowShape& shape);
  /// Collective, unless MPI is finalized, or an exception is under way: the window then lives on.
  ~RowWindow();
  RowWindow(const RowWindow&) = delete;
  RowWindow& operator=(const RowWindow&) = delete;

  // Rows ascend. Memory must stay valid until finish(), or as long as the window if finish() throws.
  /// found[i] = the word of rows[i], to which added[i] is then added.
  void add_words(std::span<const std::int64_t> rows, const std::uint64_t* added, std::uint64_t* found);
  void read_words(std::span<const std::int64_t> rows, std::uint64_t* found);
  /// The values may be torn if a rank pushes meanwhile.
  void get_rows(std::span<const std::int64_t> rows, float* values);
  /// found = the rows before the addition.
  void add_rows(std::span<const std::int64_t> rows, const float* added, float* found);
  void finish(const char* what);

  void fence();
  void progress();
  [[nodiscard]] float* local() const { return static_cast<float*>(base_); }
  /// The number of messages and of round trips so far.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t trips() const { return trips_; }
  /// Whether a round trip did not finish: the window is unusable, and memory that MPI may still write must stay.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  template <typename Start>
  void for_each_target(std::span<const std::int64_t> rows, bool words, const Start& start);

  Communicator comm_;
  RowShape shape_;
  MPI_Win window_ = MPI_WIN_NULL;
  void* base_ = nullptr;
  std::vector<MPI_Request> requests_;
  std::vector<int> targets_;
  std::vector<MPI_Aint> places_;
  std::uint64_t messages_ = 0;
  std::uint64_t trips_ = 0;
  bool broken_ = false;
  int exceptions_ = std::uncaught_exceptions();  ///< under way when the window was made
};

}  // namespace tutti::detail::server
