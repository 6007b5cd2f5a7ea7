// SPDX-License-Identifier: BSD-3-Clause
#include "watch/communicators.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/hash.hpp"
#include "diagnosis/findings.hpp"
#include "diagnosis/recorder.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {
namespace {

using tutti::detail::Hash;
using tutti::detail::flight::Recorder;

bool is_watchable(MPI_Comm comm) {
  int inter = 1;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0;
}

std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> theirs(own.size());
  PMPI_Group_translate_ranks(group, size, own.data(), world, theirs.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return theirs;
}

std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Comm_get_name(comm, name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

bool is_built_in(MPI_Comm comm) { return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF; }

}  // namespace

std::string Watched::text() const { return tutti::detail::flight::communicator_text(name, mark); }

void Communicators::open(std::uint64_t job) {
  const std::lock_guard lock(mutex_);
  job_ = job;
  add_locked(MPI_COMM_WORLD);
  add_locked(MPI_COMM_SELF);
}

void Communicators::add(MPI_Comm comm) {
  if (!is_watchable(comm)) return;
  const std::lock_guard lock(mutex_);
  add_locked(comm);
}

Communicators::Entry* Communicators::add_locked(MPI_Comm comm) {
  Watched made;
  made.world = world_ranks(comm);
  made.name = name_of(comm);
  PMPI_Comm_rank(comm, &made.rank);
  return add_locked(comm, std::move(made));
}

Communicators::Entry* Communicators::add_locked(MPI_Comm comm, Watched made) {
  if (!is_built_in(comm)) made.place = current_place();
  const bool is_inside = std::find(made.world.begin(), made.world.end(), MPI_UNDEFINED) == made.world.end();
  if (is_inside) {
    Hash hash;
    for (const int rank : made.world) hash.add(rank);
    made.mark = Hash().add(hash.value()).add(had_[hash.value()]++).add(job_).value() | 1U;
    if (auto* recorder = Recorder::instance())
      made.row = recorder->add_communicator(made.mark, made.rank, made.size(), made.name);
  }
  Entry& entry = all_[comm] = {std::make_shared<const Watched>(std::move(made))};
  return is_inside ? &entry : nullptr;
}

Communicators::Entry* Communicators::find_locked(MPI_Comm comm) {
  const auto found = all_.find(comm);
  if (found != all_.end()) return found->second.comm->mark == 0 ? nullptr : &found->second;
  return is_watchable(comm) ? add_locked(comm) : nullptr;
}

void Communicators::add_copy(MPI_Comm from, MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const Entry* known = find_locked(from);
  if (known == nullptr) return;
  Watched made;
  made.world = known->comm->world;
  made.rank = known->comm->rank;
  add_locked(comm, std::move(made));
}

void Communicators::remove(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(comm);
  if (found == all_.end()) return;
  if (auto* recorder = Recorder::instance(); recorder != nullptr && found->second.comm->mark != 0)
    recorder->remove_communicator(found->second.comm->row);
  all_.erase(found);
}

std::shared_ptr<const Watched> Communicators::find(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const Entry* found = find_locked(comm);
  return found == nullptr ? nullptr : found->comm;
}

std::pair<std::shared_ptr<const Watched>, std::uint32_t> Communicators::next(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  Entry* found = find_locked(comm);
  if (found == nullptr) return {};
  ++found->sequence;
  if (auto* recorder = Recorder::instance()) recorder->count(found->comm->row, found->sequence);
  return {found->comm, found->sequence};
}

std::vector<std::string> Communicators::left() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> places;
  for (const auto& [handle, entry] : all_)
    if (!is_built_in(handle)) places.push_back(entry.comm->place);
  return places;
}

// Never destroyed, because MPI may be finalized after the statics of this file.
Communicators& communicators() {
  static auto* all = new Communicators;
  return *all;
}

}  // namespace tutti::preload
