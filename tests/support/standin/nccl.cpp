// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/nccl.hpp"

#include <algorithm>
#include <utility>

#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {

struct Nccl::State : NcclState {
  using NcclState::NcclState;
  bool is_installed = false;
};

Nccl::Nccl(Runtime& runtime, int version) : state_(std::make_unique<State>(runtime)) {
  state_->version = version;
  state_->table = functions_of(version);
  current_nccl = state_.get();
  runtime.set_arrivals(land_all);
  (void)wire();
}

Nccl::~Nccl() {
  if (state_->is_installed) detail::nccl::replace_table(nullptr);
  state_->runtime->set_arrivals(nullptr);
  state_->runtime = nullptr;
  // Kept: communicators that are ended later, and work that is still in streams, refer to it.
  static auto* gone = new std::vector<std::unique_ptr<State>>;
  gone->push_back(std::move(state_));
}

void Nccl::install() {
  state_->is_installed = true;
  detail::nccl::replace_table(&state_->table);
}

const detail::nccl::Table& Nccl::table() const { return state_->table; }
const std::vector<std::string>& Nccl::record() const { return state_->record; }
void Nccl::clear_record() {
  const std::lock_guard lock(state_->mutex);
  state_->record.clear();
  state_->questions = 0;
}
const detail::nccl::Config& Nccl::last_config() const { return state_->last_config; }
const std::string& Nccl::last_name() const { return state_->last_name; }
std::size_t Nccl::questions() const {
  const std::lock_guard lock(state_->mutex);
  return state_->questions;
}
std::thread::id Nccl::last_thread() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_thread;
}
void Nccl::set_in_progress(int looks) { state_->looks = looks; }
void Nccl::forget_connections() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& comm : state_->comms) comm->connected.clear();
}
void Nccl::hang_init() { state_->hangs_init = true; }
void Nccl::end_inits() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& comm : state_->comms)
    if (comm->phase == NcclComm::Phase::making) comm->error = detail::nccl::Result::system_error;
}
void Nccl::hang_work(bool hangs) {
  const std::lock_guard lock(state_->mutex);
  state_->hangs_work = hangs;
}
void Nccl::within_next_launch(std::function<void()> function) { state_->within_launch = std::move(function); }
void Nccl::fail_next(const std::string& name, detail::nccl::Result result) { state_->failures[name] = result; }
void Nccl::forbid_shared_devices() { state_->forbids_shared_devices = true; }
void Nccl::set_host_rma(bool can) {
  const std::lock_guard lock(state_->mutex);
  state_->has_host_rma = can;
}
void Nccl::expect_violations() { state_->expects_violations = true; }
const std::vector<std::string>& Nccl::violations() const { return state_->violations; }

void Nccl::set_async_error(detail::nccl::Result result) {
  const std::lock_guard lock(state_->mutex);
  state_->async_error = result;
  state_->last_error = "ordered asynchronous error";
}

int Nccl::live_communicators() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<int>(
      std::count_if(state_->comms.begin(), state_->comms.end(), [](const auto& c) { return c->is_alive(); }));
}

int Nccl::live_registrations() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t live = 0;
  for (const auto& comm : state_->comms)
    if (comm->is_alive()) live += comm->registrations.size() + comm->windows.size() + comm->factors.size();
  return static_cast<int>(live);
}

int Nccl::in_flight() const {
  const std::lock_guard lock(state_->mutex);
  return state_->in_flight;
}

int Nccl::launched_in_windows() const {
  const std::lock_guard lock(state_->mutex);
  return state_->launched_in_windows;
}

int Nccl::copied() const {
  const std::lock_guard lock(state_->mutex);
  return state_->copied;
}

std::uint64_t Nccl::last_tag() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_tag;
}

void Nccl::set_missing(const std::string& algorithm, bool is_missing) {
  const std::lock_guard lock(state_->mutex);
  if (is_missing)
    state_->missing.insert(algorithm);
  else
    state_->missing.erase(algorithm);
}

}  // namespace tutti::standin
