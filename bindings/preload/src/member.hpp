// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tutti/communicator.hpp>
#include <vector>

#include "core/stopwatch.hpp"
#include "report.hpp"
#include "retreat.hpp"

namespace tutti::preload {

/// What a call does on a communicator without the library's side. Equal on all ranks of the call.
enum class SetUp : std::uint8_t {
  never,  ///< leaves the call to the MPI: nonblocking ones may not wait for the other ranks
  late,   ///< the same, until the communicator has made many calls and is worth the time of a side
  now,    ///< makes the side
};

/// Which neighbours of a rank exist, in MPI's order: at the border of a grid there are some that do not.
struct Neighbors {
  std::vector<bool> sources{};
  std::vector<bool> destinations{};
};

/// Nothing where a communicator has no topology. Local.
[[nodiscard]] std::optional<Neighbors> neighbors_of(MPI_Comm comm, int rank);

/// This rank's side of a communicator of the program. Hangs at the communicator as an attribute that is not copied, and
/// ends with it.
class Member {
 public:
  explicit Member(MPI_Comm handle);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Those of the communicator's topology, if it has one.
  [[nodiscard]] const std::optional<Neighbors>& neighbors() const { return neighbors_; }
  /// Why all calls of this communicator are passed on.
  [[nodiscard]] Reason reason() const { return reason_; }
  /// Why those with a request are, once the library's side is there.
  [[nodiscard]] Reason reason_of_requests(bool is_persistent) const {
    return is_persistent ? reason_of_persistent_ : reason_of_nonblocking_;
  }
  [[nodiscard]] bool is_set_up() const { return ours_.has_value(); }
  /// Before a call that the library could make: makes its communicator if there is none and it is time, which is
  /// collective and blocking, or says why the MPI must make the call. After ranks have made different calls, throws
  /// Error or says so.
  Reason begin_call(SetUp how) {
    ++calls_;
    if (!ours_) {
      const Reason reason = make_at(how);
      if (reason != Reason::none) return reason;
    }
    return retreat_ ? retreat() : Reason::none;
  }
  /// The MPI's code of the exception that is being handled, by which a call through the library has failed; MPI_SUCCESS
  /// if the MPI is to make that call, which may_repeat allows.
  int fail(bool may_repeat = false);
  [[nodiscard]] const Communicator& ours() const { return *ours_; }
  /// Makes it before the first call. children: the communicators made of this one for which that may be done, too.
  /// Collective over the communicator, blocking.
  void set_up_early(int children);
  [[nodiscard]] bool may_set_up_early() const { return is_set_up() && early_left_ > 0; }
  /// For one communicator made of this one: returns for how many of its own it may be done. Equal on all ranks.
  int take_early();
  /// Frees the library's communicator. Collective over the communicator.
  void end();
  /// Leaves all later calls to the MPI.
  void pass_on(Reason reason) { reason_ = reason; }

  /// For one thread at a time; nothing is locked where the program has one at a time anyway.
  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return has_threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  [[nodiscard]] std::unique_lock<std::mutex> try_lock() {
    return has_threads_ ? std::unique_lock(mutex_, std::try_to_lock) : std::unique_lock<std::mutex>();
  }
  /// Whether try_lock() gave the right to go on.
  [[nodiscard]] bool may_go_on(const std::unique_lock<std::mutex>& lock) const {
    return !has_threads_ || lock.owns_lock();
  }

 private:
  Reason make_at(SetUp how);
  Reason make();
  enum class Vote : std::uint8_t { wait, no_room, make };
  /// Of all ranks: no_room where one rank's sides take `most` contexts of the MPI, or one is in MPI_Finalize. Finds out
  /// whether every rank can end calls with requests. Collective, blocking.
  [[nodiscard]] Vote vote(int most, bool is_worth_it);
  Reason retreat();

  MPI_Comm handle_;
  int rank_ = 0;
  int size_ = 0;
  bool has_threads_ = false;
  std::optional<Neighbors> neighbors_{};
  Reason reason_ = Reason::none;
  Reason reason_of_nonblocking_ = Reason::none;
  Reason reason_of_persistent_ = Reason::none;
  std::mutex mutex_{};
  std::optional<Communicator> ours_{};
  std::uint64_t calls_ = 0;           ///< without starts of persistent ones and calls that are always the MPI's
  std::uint64_t next_vote_;           ///< the number of calls at which the ranks ask again whether to make the side
  tutti::detail::Stopwatch age_{};    ///< since the first call
  std::optional<Retreat> retreat_{};  ///< since ranks have made different calls
  int early_ = 0;
  int early_left_ = 0;
};

/// Null for MPI_COMM_NULL, for handles that MPI refuses and while MPI does not run. Valid as long as the handle is.
[[nodiscard]] std::shared_ptr<Member>* find_member(MPI_Comm comm);

/// Null, too, for a communicator that has made no call yet.
[[nodiscard]] std::shared_ptr<Member>* kept_member(MPI_Comm comm);

/// Before MPI_Finalize, in which attributes of the program may still make calls and communicators: no further sides are
/// made. MPI_Comm_create_from_group of MPICH 4.0.2 does not return there. Local.
void make_no_more_sides();

/// Frees the library's side of a communicator that the program is about to free. Collective over it.
void end_member(MPI_Comm comm);

namespace detail {
struct LastMember {
  MPI_Comm comm;
  std::shared_ptr<Member>* member;
  unsigned ended;  ///< number of members that had ended then
};
inline thread_local LastMember last_member{MPI_COMM_NULL, nullptr, 0};
inline std::atomic<unsigned> ended_members{0};
}  // namespace detail

/// As find_member(); quick for the communicator of the call before.
[[nodiscard]] inline std::shared_ptr<Member>* member_of(MPI_Comm comm) {
  detail::LastMember& last = detail::last_member;
  if (last.comm == comm && last.member != nullptr &&
      last.ended == detail::ended_members.load(std::memory_order_acquire))
    return last.member;
  return find_member(comm);
}

}  // namespace tutti::preload
