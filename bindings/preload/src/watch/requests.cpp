// SPDX-License-Identifier: BSD-3-Clause
#include "watch/requests.hpp"

#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "core/hash.hpp"
#include "diagnosis/site_text.hpp"
#include "watch/envelopes.hpp"

namespace tutti::preload {
namespace {

namespace flight = tutti::detail::flight;

std::uint64_t hash_of(const Span& sent) {
  if (sent.data == nullptr) return 0;
  return tutti::detail::hash_bytes({static_cast<const std::byte*>(sent.data), sent.bytes});
}

}  // namespace

bool is_complete(MPI_Request request) {
  int flag = 0;
  PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

void WatchedRequests::add(MPI_Request request, RequestedCall call) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = all_.equal_range(request);
  if (first != last) call.sent = {};  // one handle tells no buffers apart
  for (auto one = first; one != last; ++one) one->second.sent = {};
  if (call.is_started) call.hash = hash_of(call.sent);
  all_.emplace(request, std::move(call));
}

void WatchedRequests::start(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return;
  RequestedCall& call = found->second;
  call.is_started = true;
  call.hash = hash_of(call.sent);
  if (call.tell) call.receive = call.tell();
  auto* recorder = flight::Recorder::instance();
  if (recorder == nullptr) return;
  call.facts.form = flight::Form::start;
  call.note = {recorder, recorder->begin(call.facts, flight::State::outstanding)};
}

bool WatchedRequests::knows(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  return all_.count(request) != 0;
}

void WatchedRequests::wait(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = all_.equal_range(request);
  for (auto one = first; one != last; ++one) one->second.note.wait();
}

Completed WatchedRequests::complete(MPI_Request before, MPI_Request after) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(before);
  if (found == all_.end() || !found->second.is_started) return {};
  RequestedCall& call = found->second;
  if (call.is_persistent ? !is_complete(before) : after != MPI_REQUEST_NULL) return {};
  const bool is_changed = call.sent.data != nullptr && hash_of(call.sent) != call.hash;
  const Completed completed{is_changed ? call.place : "", call.receive};
  std::exchange(call.note, {}).end(flight::State::done);
  call.is_started = false;
  if (!call.is_persistent) all_.erase(found);
  return completed;
}

void WatchedRequests::cancel(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return;
  if (found->second.receive != 0) return envelopes().drop(found->second.receive);
  if (found->second.withdraw) found->second.withdraw();
}

void WatchedRequests::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return;
  found->second.note.end(flight::State::done);
  if (found->second.is_started && found->second.receive != 0) envelopes().drop(found->second.receive);
  all_.erase(found);
}

std::vector<std::string> WatchedRequests::left() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const auto& [handle, call] : all_) {
    const std::string place = tutti::detail::words_of(call.place);
    const char* missing = call.is_persistent ? "freed; call MPI_Request_free" : "completed; call MPI_Wait or MPI_Test";
    texts.push_back("the request of the call " + place + " was never " + missing);
  }
  return texts;
}

// Never destroyed, because MPI may be finalized after the statics of this file.
WatchedRequests& watched_requests() {
  static auto* all = new WatchedRequests;
  return *all;
}

}  // namespace tutti::preload
