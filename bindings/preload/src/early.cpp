// SPDX-License-Identifier: BSD-3-Clause
#include "early.hpp"

#include "member.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {
namespace {

/// The library's side takes about four times as long to make and free as the MPI's, so that a program that makes many
/// communicators pays for the first ones only: for so many of MPI_COMM_WORLD, and a quarter of that of each of these.
constexpr int most_of_world = 16;

bool has_same_ranks(MPI_Comm one, MPI_Comm other) {
  int result = MPI_UNEQUAL;
  return PMPI_Comm_compare(one, other, &result) == MPI_SUCCESS && result == MPI_CONGRUENT;
}

}  // namespace

int begin() {
  const int code = start_watching();
  if (code != MPI_SUCCESS || is_checked()) return code;  // calls that are checked are the MPI's
  if (const std::shared_ptr<Member>* const world = member_of(MPI_COMM_WORLD)) (*world)->set_up_early(most_of_world);
  return code;
}

void set_up_early(MPI_Comm from, MPI_Comm made) {
  const std::shared_ptr<Member>* const parent = made == MPI_COMM_NULL || is_checked() ? nullptr : kept_member(from);
  if (parent == nullptr || !(*parent)->may_set_up_early() || !has_same_ranks(from, made)) return;
  const int share = (*parent)->take_early();
  if (const std::shared_ptr<Member>* const child = member_of(made)) (*child)->set_up_early(share);
}

}  // namespace tutti::preload
