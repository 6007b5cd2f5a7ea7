// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <algorithm>
#include <tutti/error.hpp>
#include <tutti/request.hpp>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/progress.hpp"
#include "core/mpi_call.hpp"
#include "diagnosis/recorder.hpp"

namespace tutti {

using detail::Execution;
using detail::ProgressEngine;

namespace {

/// After a test that failed: a caller that can do nothing else waits.
void note_if_held(const Execution& execution) noexcept {
  if (detail::flight::Held::is_held()) execution.note_wait();
}

}  // namespace

void detail::give_up(const Request& request) noexcept {
  if (request.execution()) request.execution()->give_up();
}

void Request::finish() {
  status_ = execution_->status();
  error_ = execution_->error();
  is_ordered_ = false;
  if (execution_->persistent()) {
    execution_->acknowledge();
    execution_->rethrow();
    if (execution_->is_watched()) [[unlikely]]
      execution_->verify();
    return;
  }
  const auto done = std::move(execution_);
  execution_.reset();
  done->rethrow();
  if (done->is_watched()) [[unlikely]]
    done->verify();
}

bool Request::test() {
  if (!pending()) return true;
  ProgressEngine::instance().poll();
  if (!execution_->finished()) {
    note_if_held(*execution_);
    return false;
  }
  finish();
  return true;
}

void Request::wait() {
  if (!pending()) return;
  ProgressEngine& engine = ProgressEngine::instance();
  if (engine.poll(), execution_->finished()) return finish();
  execution_->note_wait();
  detail::Backoff backoff(execution_->comm().topology.oversubscribed);
  while (engine.poll(), !execution_->finished()) {
    if (execution_->pause(backoff)) continue;
    execution_->announce_backoff();
    if (engine.poll(), execution_->finished()) break;
    execution_->nap();
  }
  finish();
}

bool Request::test(Stream stream) {
  if (!pending()) return true;
  ProgressEngine::instance().poll();
  const bool is_running = !execution_->finished();
  // For the host a captured operation is done, but the stream must join it.
  const bool is_ordered = stream.kind != StreamKind::none && execution_->order_before(stream.handle);
  if (is_running && !is_ordered) {
    note_if_held(*execution_);
    return false;
  }
  if (!is_running) {
    finish();
    return true;
  }
  // The engine sees the end of the operation; for the caller the stream is ordered after it.
  is_ordered_ = execution_->persistent();
  if (!is_ordered_) execution_.reset();
  return true;
}

void Request::wait(Stream stream) {
  if (test(stream)) return;
  detail::Backoff backoff(execution_->comm().topology.oversubscribed);
  do {
    if (stream.kind == StreamKind::none || !execution_->will_order()) return wait();
    if (!execution_->pause(backoff)) execution_->nap();
  } while (!test(stream));
}

void Request::start() {
  if (!execution_ || !execution_->persistent())
    throw Error(ErrorCode::invalid_request,
                detail::error_prefix() + "start: the request is not persistent; start only requests of an _init call");
  if (is_ordered_) wait();
  if (active())
    throw Error(ErrorCode::invalid_request, detail::error_prefix() + "start: the persistent " + execution_->name() +
                                                " is still active; wait for it before starting it again");
  ProgressEngine::instance().restart(execution_);
}

ErrorCode Request::error() const noexcept { return execution_ && pending() ? execution_->error() : error_; }

bool Request::active() const noexcept { return execution_ && execution_->phase() == Execution::Phase::active; }

bool Request::pending() const noexcept { return execution_ && execution_->phase() != Execution::Phase::idle; }

bool Request::persistent() const noexcept { return execution_ && execution_->persistent(); }

namespace {

/// Calls `end` for requests that are done, and rethrows the first error after the last of them.
template <typename End>
void for_each_with_errors(std::span<Request> requests, const End& end) {
  std::exception_ptr first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      end(i);
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

bool is_any_pending(std::span<Request> requests) {
  return std::any_of(requests.begin(), requests.end(), [](const Request& request) { return request.pending(); });
}

bool is_over(const Request& request) { return !request.active(); }

}  // namespace

void start_all(std::span<Request> requests) {
  for (Request& request : requests) request.start();
}

void wait_all(std::span<Request> requests) {
  for_each_with_errors(requests, [&](std::size_t i) { requests[i].wait(); });
}

std::optional<std::size_t> wait_any(std::span<Request> requests) {
  detail::Backoff backoff(true);
  while (is_any_pending(requests)) {
    if (const auto index = test_any(requests)) return index;
    if (!backoff.pause()) sched_yield();
  }
  return std::nullopt;
}

std::vector<std::size_t> wait_some(std::span<Request> requests) {
  detail::Backoff backoff(true);
  while (is_any_pending(requests)) {
    if (auto done = test_some(requests); !done.empty()) return done;
    if (!backoff.pause()) sched_yield();
  }
  return {};
}

bool test_all(std::span<Request> requests) {
  ProgressEngine::instance().poll();
  if (!std::all_of(requests.begin(), requests.end(), is_over)) return false;
  wait_all(requests);
  return true;
}

std::optional<std::size_t> test_any(std::span<Request> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (requests[i].pending() && requests[i].test()) return i;
  return std::nullopt;
}

std::vector<std::size_t> test_some(std::span<Request> requests) {
  ProgressEngine::instance().poll();
  std::vector<std::size_t> done;
  for_each_with_errors(requests, [&](std::size_t i) {
    if (!requests[i].pending() || !is_over(requests[i])) return;
    done.push_back(i);
    requests[i].wait();
  });
  return done;
}

}  // namespace tutti
