// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/format.hpp"

namespace tutti::detail::flight {

/// A call as a recorder had it when it was read.
struct SeenCall {
  Facts facts{};
  State state = State::none;
  std::string way{};
  std::string site{};
  std::uint64_t number = 0;
  std::int64_t begin = 0;  ///< nanoseconds since 1970
  std::int64_t end = 0;    ///< 0: it is not over
  std::optional<Summed> sums{};
  bool has_taken = false;  ///< the sums have what it has taken
};

struct SeenCommunicator {
  std::uint64_t mark = 0;  ///< 0: the row is free
  int rank = 0;
  int size = 0;
  std::uint32_t sequence = 0;
  std::uint32_t number = 0;
  std::string name{};
};

/// A process's recorder at one moment.
struct Snapshot {
  int process = 0;
  int world_rank = -1;
  int world_size = 0;
  bool ended = false;    ///< MPI was finalized
  bool is_alive = true;  ///< its process runs; set by who finds the recorder
  std::uint64_t job = 0;
  std::string host{};
  std::string command{};
  std::int64_t taken = 0;   ///< nanoseconds since 1970
  std::uint64_t total = 0;  ///< calls, of which the ring has the last
  std::vector<SeenCommunicator> communicators{};
  std::vector<SeenCall> calls{};  ///< oldest first

  /// How long a call has lasted, in seconds.
  [[nodiscard]] double seconds(const SeenCall& call) const {
    return 1e-9 * static_cast<double>((call.end != 0 ? call.end : taken) - call.begin);
  }
  /// The call that the program cannot leave, or null.
  [[nodiscard]] const SeenCall* current() const;
  /// That of a call; one without a mark if it is gone.
  [[nodiscard]] const SeenCommunicator& communicator(const SeenCall& call) const;
};

/// Reads the memory of a recorder, which its process may be writing. Gives nothing, with the problem in words, if the
/// memory is none or is damaged. now: of this machine, which counts if it is the recorder's.
[[nodiscard]] std::optional<Snapshot> read_snapshot(std::span<const std::byte> memory, const Moment& now,
                                                    std::string& problem);
/// The same for a file.
[[nodiscard]] std::optional<Snapshot> read_snapshot(const std::string& path, std::string& problem);

/// The recorders of one job, by their rank in MPI_COMM_WORLD.
using Job = std::vector<Snapshot>;

/// The recorders that processes of this user on this host hold, their own and those of others that have ended.
[[nodiscard]] std::vector<Snapshot> find_recorders();
/// The recorders in a folder, or in one file. problems: a line for each file that is none.
[[nodiscard]] std::vector<Snapshot> read_recorders(const std::string& path, std::vector<std::string>& problems);

/// Puts recorders of processes together that have met: that have a communicator or a first communicator in common.
[[nodiscard]] std::vector<Job> jobs_of(std::vector<Snapshot> snapshots);

/// Snapshots for a process of another host, with the last calls of each rank.
[[nodiscard]] std::string to_bytes(const Job& job, std::size_t last_calls);
/// The snapshots again; none if the bytes are damaged.
[[nodiscard]] Job from_bytes(std::string_view bytes);

}  // namespace tutti::detail::flight
