// SPDX-License-Identifier: BSD-3-Clause
#include "requests.hpp"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "buffers.hpp"
#include "collectives/services.hpp"
#include "errors.hpp"

namespace tutti::preload {

namespace services = tutti::detail::services;

namespace {

/// The calls behind tokens.
class Table {
 public:
  [[nodiscard]] bool empty() const { return number_.load(std::memory_order_acquire) == 0; }
  [[nodiscard]] std::shared_ptr<Operation> find(MPI_Request token) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(token);
    return found == calls_.end() ? nullptr : found->second;
  }
  void add(std::shared_ptr<Operation> operation) {
    const std::lock_guard lock(mutex_);
    const MPI_Request token = operation->token();
    calls_[token] = std::move(operation);
    number_.fetch_add(1);
  }
  void remove(MPI_Request token) {
    const std::lock_guard lock(mutex_);
    number_.fetch_sub(calls_.erase(token));
  }

 private:
  std::mutex mutex_;
  std::unordered_map<MPI_Request, std::shared_ptr<Operation>> calls_;
  std::atomic<std::size_t> number_{0};
};

Table& table() {
  static auto* all = new Table;  // calls may end after the statics of this file
  return *all;
}

/// Messages of this rank to itself, which complete persistent tokens. Each has a tag of its own.
class Messages {
 public:
  int make_token(MPI_Request& token, int& tag) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) free_.push_back(next_++);
    tag = free_.back();
    free_.pop_back();
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, private_self(), &token);
  }
  void send(int tag) { PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, private_self()); }
  void take_back(int tag) {
    const std::lock_guard lock(mutex_);
    free_.push_back(tag);
  }

 private:
  std::mutex mutex_;
  std::vector<int> free_;
  int next_ = 1;
};

Messages& messages() {
  static auto* all = new Messages;
  return *all;
}

/// Calls that are under way, as far as this rank knows.
std::atomic<int> active{0};

int query(void* /*extra*/, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int cancel(void* /*extra*/, int /*complete*/) { return MPI_SUCCESS; }

/// What a token knows of its call, which may end before it.
using Link = std::weak_ptr<Operation>;

int release(void* link) {
  delete static_cast<Link*>(link);
  return MPI_SUCCESS;
}

thread_local constinit int own_steps = 0;

#ifdef MPICH_VERSION
/// The error of a call that has failed goes to its communicator's handler alone: MPICH would give it to another one.
int take_step(void* link, MPI_Status* /*status*/) {
  const auto operation = static_cast<Link*>(link)->lock();
  if (own_steps > 0 || !operation) return MPI_SUCCESS;
  raise(operation->comm(), operation->advance());
  sched_yield();
  return MPI_SUCCESS;
}

int take_steps(int count, void** links, double /*timeout*/, MPI_Status* /*status*/) {
  for (int i = 0; i < count; ++i)
    if (const auto operation = static_cast<Link*>(links[i])->lock()) raise(operation->comm(), operation->finish());
  return MPI_SUCCESS;
}
#endif

int make_generalized(Link call, MPI_Request& token) {
  auto link = std::make_unique<Link>(std::move(call));
#ifdef MPICH_VERSION
  const int code = mpi_takes_steps()
                       ? PMPIX_Grequest_start(query, release, cancel, take_step, take_steps, link.get(), &token)
                       : PMPI_Grequest_start(query, release, cancel, link.get(), &token);
#else
  const int code = PMPI_Grequest_start(query, release, cancel, link.get(), &token);
#endif
  if (code == MPI_SUCCESS) (void)link.release();
  return code;
}

}  // namespace

OwnSteps::OwnSteps() { ++own_steps; }
OwnSteps::~OwnSteps() { --own_steps; }

Operation::~Operation() {
  if (tag_ >= 0) messages().take_back(tag_);
}

int Operation::make_token(bool is_persistent) {
  return is_persistent ? messages().make_token(token_, tag_) : make_generalized(weak_from_this(), token_);
}

Reason Operation::make(bool is_persistent, int& code) {
  try {
    const auto locked = member_->lock();
    if (is_persistent) {
      request_ = prepare(member_->ours());
    } else {
      read();
      request_ = begin(member_->ours());
      activate();
    }
    code = make_token(is_persistent);
  } catch (const services::Stalling&) {
    return Reason::progress;
  } catch (...) {
    code = member_->fail();
  }
  return Reason::none;
}

void Operation::activate() {
  is_active_ = true;
  active.fetch_add(1, std::memory_order_relaxed);
}

int Operation::start() {
  try {
    const auto locked = member_->lock();
    read();
    request_.start();
    activate();
    return MPI_SUCCESS;
  } catch (...) {
    return member_->fail();
  }
}

void Operation::complete() {
  is_active_ = false;
  active.fetch_sub(1, std::memory_order_relaxed);
  if (tag_ >= 0) return messages().send(tag_);
  PMPI_Grequest_complete(token_);
  table().remove(token_);
}

int Operation::advance() {
  if (!is_active_) return MPI_SUCCESS;
  int code = MPI_SUCCESS;
  try {
    // While another thread is in a blocking call of the communicator, that call takes the steps.
    const auto locked = member_->try_lock();
    if (!member_->may_go_on(locked) && request_.active()) return MPI_SUCCESS;
    if (!request_.test()) return MPI_SUCCESS;
    write();
  } catch (...) {
    code = member_->fail();
  }
  complete();
  return code;
}

bool has_active() { return active.load(std::memory_order_relaxed) > 0; }

int Operation::finish() {
  int code = MPI_SUCCESS;
  while (is_active_) {
    code = advance();
    if (is_active_) sched_yield();
  }
  return code;
}

void keep(std::shared_ptr<Operation> operation) { table().add(std::move(operation)); }

std::shared_ptr<Operation> operation_of(MPI_Request token) {
  if (table().empty() || token == MPI_REQUEST_NULL) return nullptr;
  return table().find(token);
}

Operations operations_of(int count, const MPI_Request* requests) {
  Operations found;
  for (int i = 0; requests != nullptr && i < count; ++i)
    if (auto operation = operation_of(requests[i])) found.push_back(std::move(operation));
  return found;
}

void forget(MPI_Request token) { table().remove(token); }

}  // namespace tutti::preload
