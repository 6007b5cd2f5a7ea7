// SPDX-License-Identifier: BSD-3-Clause
#include "watch/requests.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "check/overlap.hpp"
#include "core/hash.hpp"
#include "diagnosis/site_text.hpp"
#include "errors.hpp"
#include "watch/message_types.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {
namespace {

namespace flight = tutti::detail::flight;

std::uint64_t hash_of(const Spans& sent) {
  tutti::detail::Hash hash;
  for (const auto& block : sent) hash.add(tutti::detail::hash_bytes(block));
  return hash.value();
}

void begin(RequestedCall& call) {
  call.hash = hash_of(call.sent);
  if (call.shadow) call.shadow->begin();
  call.is_delivered = false;
  call.is_over = false;
}

void deliver(RequestedCall& call) {
  if (call.shadow && !std::exchange(call.is_delivered, true)) call.shadow->end();
}

bool is_awaited(const RequestedCall& call) { return call.is_started && call.shadow && !call.is_delivered; }

/// The program has its buffers again.
void end(RequestedCall& call) {
  if (std::exchange(call.is_over, true)) return;
  deliver(call);
  call.changed = hash_of(call.sent) != call.hash ? "send" : nullptr;
  if (call.shadow && call.shadow->is_changed()) call.changed = "receive";
}

int raise_overlap(MPI_Comm comm, const std::string& overlap) {
  if (overlap.empty()) return MPI_SUCCESS;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string text = fmt::format("rank {}: the call {} {}; complete the request of that call before", rank,
                                       tutti::detail::words_of(current_place()), overlap);
  return raise(comm, code_of(ErrorCode::invalid_argument, text));
}

}  // namespace

bool is_complete(MPI_Request request) {
  int flag = 0;
  PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

void WatchedRequests::add(MPI_Request request, RequestedCall call) {
  const std::lock_guard lock(mutex_);
  if (call.is_started) call.hash = hash_of(call.sent);
  if (is_awaited(call) && is_complete(request)) deliver(call);
  const auto [first, last] = all_.equal_range(request);
  if (first != last) share(request, call);
  all_.emplace(request, std::move(call));
}

// Only calls that were complete at once have one handle; a handle that is new belongs to none whose end was not seen.
void WatchedRequests::share(MPI_Request request, RequestedCall& added) {
  const bool is_new = is_awaited(added);
  std::erase_if(all_, [&](const auto& one) { return one.first == request && (is_new || is_awaited(one.second)); });
  const auto forget_buffers = [](RequestedCall& call) {
    call.sent = {};
    call.received = {};
    call.hash = hash_of(call.sent);
    call.shadow = nullptr;
  };
  if (!is_new) forget_buffers(added);
  const auto [first, last] = all_.equal_range(request);
  for (auto one = first; one != last; ++one) forget_buffers(one->second);
}

std::string WatchedRequests::overlap(const Spans& sent, const Spans& received) {
  const std::lock_guard lock(mutex_);
  return overlap_with_others(sent, received);
}

std::string WatchedRequests::overlap_with_others(const Spans& sent, const Spans& received) const {
  for (const auto& [handle, call] : all_) {
    if (!call.is_started || call.is_over) continue;
    const std::string_view shares = tutti::detail::overlap_words(sent, received, call.sent, call.received);
    if (!shares.empty()) return fmt::format("{} the call {}", shares, tutti::detail::words_of(call.place));
  }
  return {};
}

std::string WatchedRequests::start(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return {};
  RequestedCall& call = found->second;
  if (std::string text = overlap_with_others(call.sent, call.received); !text.empty()) return text;
  call.is_started = true;
  begin(call);
  if (call.tell) call.receive = call.tell();
  auto* recorder = flight::Recorder::instance();
  if (recorder == nullptr) return {};
  call.facts.form = flight::Form::start;
  call.note = {recorder, recorder->begin(call.facts, flight::State::outstanding)};
  return {};
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
  end(call);
  const Completed completed{call.changed, call.place, call.receive};
  std::exchange(call.note, {}).end(flight::State::done);
  call.is_started = false;
  if (!call.is_persistent) all_.erase(found);
  return completed;
}

void WatchedRequests::tell_end(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = all_.equal_range(request);
  for (auto one = first; one != last; ++one)
    if (one->second.is_started) end(one->second);
}

void WatchedRequests::cancel(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return;
  if (found->second.receive != 0) return message_types().drop(found->second.receive);
  if (found->second.withdraw) found->second.withdraw();
}

bool WatchedRequests::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(request);
  if (found == all_.end()) return false;
  RequestedCall& call = found->second;
  call.note.end(flight::State::done);
  if (call.is_started && call.receive != 0) message_types().drop(call.receive);
  const bool lives_on = is_awaited(call);
  if (lives_on) freed_[request] = call.shadow;
  all_.erase(found);
  return lives_on;
}

void WatchedRequests::end_freed() {
  const std::lock_guard lock(mutex_);
  std::erase_if(freed_, [](auto& one) {
    if (!is_complete(one.first)) return false;
    one.second->end();
    MPI_Request request = one.first;
    PMPI_Request_free(&request);
    return true;
  });
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

int check_overlap(MPI_Comm comm, const Spans& sent, const Spans& received) {
  return is_checked() ? raise_overlap(comm, watched_requests().overlap(sent, received)) : MPI_SUCCESS;
}

int start_watched(int count, const MPI_Request* requests) {
  if (!is_watched() || requests == nullptr) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (const int code = raise_overlap(MPI_COMM_WORLD, watched_requests().start(requests[i])); code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}

}  // namespace tutti::preload
