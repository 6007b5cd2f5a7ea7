// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/world.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/mpi_call.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/trace/log.hpp"
#include "diagnosis/trace/merge.hpp"
#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {
namespace {

/// The ranks that have met. Written by one thread, inside a factory.
struct World {
  std::atomic<bool> has_met{false};
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  std::uint64_t job = 0;
};

World& world() {
  static auto* made = new World;  // MPI may be finalized after the statics of this file
  return *made;
}

Log* own_log() noexcept {
  const flight::Recorder* recorder = flight::Recorder::instance();
  return recorder == nullptr ? nullptr : recorder->log();
}

/// One machine after another, so that the messages of none wait for those of others.
void measure_offsets(Log& log) {
  const World& all = world();
  std::vector<std::uint64_t> machines(static_cast<std::size_t>(all.size));
  const std::uint64_t own = log.machine();
  check_mpi(MPI_Allgather(&own, 1, MPI_UINT64_T, machines.data(), 1, MPI_UINT64_T, all.comm), "MPI_Allgather");
  for (int other = 1; other < all.size; ++other) {
    if (!is_first_of_machine(machines, other) || (all.rank != 0 && all.rank != other)) continue;
    const OffsetRecord offset = measure_offset(all.comm, other);
    if (all.rank == other) log.add_offset(offset.own, offset.other, offset.round_trip);
  }
}

std::string name_of_part(const std::string& file, int rank) { return fmt::format("{}.{}", file, rank); }

void say(const std::string& problem) {
  if (!problem.empty()) fmt::print(stderr, "tutti: TUTTI_TRACE: {}\n", problem);
}

/// Parts that lie on the disk of another node come to that of rank 0. Returns true on a rank whose part was carried.
bool carry_parts(const std::string& file) {
  const World& all = world();
  std::vector<int> is_here(static_cast<std::size_t>(all.size), 1);
  for (int rank = 0; rank < all.size && all.rank == 0; ++rank) {
    const auto header = read_header(name_of_part(file, rank));
    is_here[static_cast<std::size_t>(rank)] = header && header->job == all.job && header->world_rank == rank ? 1 : 0;
  }
  check_mpi(MPI_Bcast(is_here.data(), all.size, MPI_INT, 0, all.comm), "MPI_Bcast");
  for (int rank = 1; rank < all.size; ++rank) {
    if (is_here[static_cast<std::size_t>(rank)] != 0 || (all.rank != 0 && all.rank != rank)) continue;
    say(carry_file(all.comm, rank, name_of_part(file, rank)));
  }
  return is_here[static_cast<std::size_t>(all.rank)] == 0;
}

/// On rank 0, when all parts are complete. Returns true if none is needed any more.
bool merge_parts(const std::string& file, int size) {
  std::vector<std::string> paths;
  std::vector<std::string> problems;
  paths.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) paths.push_back(name_of_part(file, rank));
  const std::string problem = merge(paths, file, problems);
  for (const std::string& line : problems) say(line);
  say(problem);
  if (!problem.empty() || !problems.empty()) return false;
  for (const std::string& path : paths) std::remove(path.c_str());
  return true;
}

void merge_all(Log& log) {
  const World& all = world();
  measure_offsets(log);
  log.finish();
  check_mpi(MPI_Barrier(all.comm), "MPI_Barrier");
  const bool is_carried = carry_parts(log.file());
  int is_merged = 0;
  if (all.rank == 0) is_merged = merge_parts(log.file(), all.size) ? 1 : 0;
  check_mpi(MPI_Bcast(&is_merged, 1, MPI_INT, 0, all.comm), "MPI_Bcast");
  if (is_carried && is_merged != 0) std::remove(name_of_part(log.file(), all.rank).c_str());
  check_mpi(MPI_Comm_free(&world().comm), "MPI_Comm_free");
}

}  // namespace

bool wants_to_meet() noexcept { return own_log() != nullptr && !world().has_met; }

void meet(MPI_Comm comm, std::uint64_t job) {
  Log* log = own_log();
  World& all = world();
  all.comm = comm;
  all.has_met = true;
  all.job = job;
  check_mpi(MPI_Comm_rank(comm, &all.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &all.size), "MPI_Comm_size");
  log->join(job);
  measure_offsets(*log);
}

void leave(bool others_live) noexcept {
  Log* log = own_log();
  if (log == nullptr) return;
  try {
    if (world().has_met && others_live) merge_all(*log);
  } catch (const std::exception& error) {
    say(std::string("the parts are not merged: ") + error.what());
  }
  log->finish();
}

}  // namespace tutti::detail::trace
