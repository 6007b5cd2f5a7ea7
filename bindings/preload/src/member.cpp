// SPDX-License-Identifier: BSD-3-Clause
#include "member.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <tutti/error.hpp>

#include "collectives/services.hpp"
#include "core/config.hpp"
#include "errors.hpp"
#include "requests.hpp"
#include "settings.hpp"
#include "waiting.hpp"

namespace tutti::preload {

namespace services = tutti::detail::services;

namespace {

/// A communicator that makes fewer calls is left alone.
constexpr std::uint64_t first_calls = 100;

/// Contexts of the MPI, of which MPICH has 2048, that the library's sides of a process take: programs with thousands of
/// communicators keep theirs. For sides that may not be used, half of them.
constexpr int most_contexts = 32;
constexpr int most_contexts_early = 16;

std::atomic<bool> is_finalizing{false};

/// What the library's side of a communicator costs: the time that the last two took to make, of which one may have been
/// disturbed. Nothing is known before. Freeing takes next to none.
class Price {
 public:
  void add(double seconds) { before_ = last_.exchange(seconds); }
  [[nodiscard]] double seconds() const { return std::min(last_.load(), before_.load()); }

 private:
  std::atomic<double> last_{0};
  std::atomic<double> before_{0};
};
Price price;

bool is_running() {
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
  const std::unique_ptr<std::shared_ptr<Member>> ended(static_cast<std::shared_ptr<Member>*>(value));
  detail::ended_members.fetch_add(1, std::memory_order_release);
  (*ended)->end();
  return MPI_SUCCESS;
}

int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr);
    return made;
  }();
  return key;
}

Reason first_reason(MPI_Comm comm, int size) {
  if (!settings().is_on) return Reason::off;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0) return Reason::intercommunicator;
  return size == 1 ? Reason::one_rank : Reason::none;
}

/// Whether results have the library's bits from the first call on. Ranks that differ in it have no side of the world.
bool is_reproducible() {
  const std::shared_ptr<Member>* const world = kept_member(MPI_COMM_WORLD);
  return world != nullptr && (*world)->is_set_up() && tutti::detail::config().reproducible;
}

}  // namespace

Member::Member(MPI_Comm handle) : handle_(handle), next_vote_(first_calls) {
  PMPI_Comm_rank(handle, &rank_);
  PMPI_Comm_size(handle, &size_);
  reason_ = first_reason(handle, size_);
  if (reason_ == Reason::none) neighbors_ = neighbors_of(handle, rank_);
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  has_threads_ = level == MPI_THREAD_MULTIPLE;
}

/// To rent or to buy: the side is made once the communicator has lived for twice as long as that takes, because first
/// calls by a side take their time too, so that a program that makes, uses and frees communicators in a loop takes
/// about twice its time at most. The ranks vote on that in the call with number 100, and each time when the calls are
/// twice as many.
Reason Member::make_at(SetUp how) {
  const bool is_asked = how == SetUp::now || (how == SetUp::late && is_reproducible());
  if (!is_asked && (how == SetUp::never || calls_ < next_vote_)) return Reason::before_set_up;
  next_vote_ = 2 * calls_;
  switch (vote(most_contexts, is_asked || age_.seconds() >= 2 * price.seconds())) {
    case Vote::wait:
      return Reason::before_set_up;
    case Vote::no_room:
      return reason_ = Reason::room;
    case Vote::make:
      break;
  }
  const tutti::detail::Stopwatch making;
  const Reason reason = make();
  price.add(making.seconds());
  return reason;
}

Member::Vote Member::vote(int most, bool is_worth_it) {
  const bool is_free = services::private_communicators() < most && !is_finalizing;
  const std::array<int, 4> mine = {is_free ? 1 : 0, ends_nonblocking() ? 1 : 0, ends_persistent() ? 1 : 0,
                                   is_worth_it ? 1 : 0};
  std::array<int, 4> all{};
  MPI_Request request = MPI_REQUEST_NULL;
  // Ranks may wait in either way for a nonblocking call. A step gives up the core.
  if (PMPI_Iallreduce(mine.data(), all.data(), 4, MPI_INT, MPI_MIN, handle_, &request) != MPI_SUCCESS ||
      wait_or_steps([&] { return PMPI_Wait(&request, MPI_STATUS_IGNORE); },
                    [&](int& is_done) { return PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE); }) != MPI_SUCCESS)
    return Vote::no_room;
  if (all[1] == 0) reason_of_nonblocking_ = Reason::tool;
  if (all[2] == 0) reason_of_persistent_ = Reason::tool;
  if (all[3] == 0) return Vote::wait;
  return all[0] != 0 ? Vote::make : Vote::no_room;
}

Reason Member::make() {
  try {
    ours_.emplace(Communicator::borrow(handle_));
    services::refuse_stalling(*ours_);
  } catch (const std::exception& error) {  // on all ranks
    reason_ = Reason::set_up;
    if (settings().reports && rank_ == 0) std::fprintf(stderr, "tutti-mpi: no set-up: %s\n", error.what());
  }
  return reason_;
}

int Member::fail(bool may_repeat) {
  const auto locked = lock();
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::mismatch && ours_ && !retreat_) {
      retreat_.emplace(*ours_, calls_, error.what(), may_repeat);
      if (retreat_->repeats()) return MPI_SUCCESS;
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): it has another code
  }
  return code_of_exception();
}

Reason Member::retreat() {
  retreat_->pass(*ours_, calls_);
  return reason_ = Reason::disagreement;
}

void Member::set_up_early(int children) {
  const auto locked = lock();
  if (reason_ != Reason::none || ours_ || vote(most_contexts_early, true) != Vote::make || make() != Reason::none)
    return;
  early_ = children;
  early_left_ = children;
}

int Member::take_early() {
  --early_left_;
  return early_ / 4;
}

void Member::end() {
  const auto locked = lock();
  if (ours_ && retreat_) retreat_->settle(*ours_);
  ours_.reset();
  pass_on(Reason::set_up);
}

std::shared_ptr<Member>* kept_member(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (comm == MPI_COMM_NULL || !is_running()) return nullptr;
  if (PMPI_Comm_get_attr(comm, keyval(), static_cast<void*>(&value), &found) != MPI_SUCCESS || found == 0)
    return nullptr;
  return static_cast<std::shared_ptr<Member>*>(value);
}

std::shared_ptr<Member>* find_member(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !is_running()) return nullptr;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const unsigned ended = detail::ended_members.load(std::memory_order_acquire);
  std::shared_ptr<Member>* member = kept_member(comm);
  if (member == nullptr) {
    auto made = std::make_unique<std::shared_ptr<Member>>(std::make_shared<Member>(comm));
    if (PMPI_Comm_set_attr(comm, keyval(), made.get()) != MPI_SUCCESS) return nullptr;
    member = made.release();
  }
  detail::last_member = {comm, member, ended};
  return member;
}

void make_no_more_sides() { is_finalizing = true; }

void end_member(MPI_Comm comm) {
  if (std::shared_ptr<Member>* member = kept_member(comm)) (*member)->end();
}

}  // namespace tutti::preload
