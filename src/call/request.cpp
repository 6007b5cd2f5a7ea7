// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <tutti/error.hpp>
#include <tutti/request.hpp>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/progress.hpp"

namespace tutti {

using detail::Execution;
using detail::ProgressEngine;

Request::Request() noexcept = default;
Request::~Request() = default;
Request::Request(Request&& other) noexcept = default;
Request& Request::operator=(Request&& other) noexcept = default;
Request::Request(std::shared_ptr<Execution> execution) noexcept : execution_(std::move(execution)) {}

void Request::finish() {
  status_ = execution_->status();
  error_ = execution_->error();
  is_ordered_ = false;
  if (execution_->persistent()) {
    execution_->acknowledge();
    execution_->rethrow();
    return;
  }
  const auto done = std::move(execution_);
  execution_.reset();
  done->rethrow();
}

bool Request::test() {
  if (!pending()) return true;
  ProgressEngine::instance().poll();
  if (!execution_->finished()) return false;
  finish();
  return true;
}

void Request::wait() {
  if (!pending()) return;
  ProgressEngine& engine = ProgressEngine::instance();
  if (engine.poll(), execution_->finished()) return finish();
  detail::Backoff backoff(execution_->comm().topology.oversubscribed);
  while (engine.poll(), !execution_->finished()) {
    if (backoff.pause()) continue;
    execution_->announce_backoff();
    if (engine.poll(), execution_->finished()) break;
    execution_->backoff();
  }
  finish();
}

bool Request::test(Stream stream) {
  if (!pending()) return true;
  ProgressEngine::instance().poll();
  const bool is_running = !execution_->finished();
  // For the host a captured operation is done, but the stream must join it.
  const bool is_ordered = stream.kind != StreamKind::none && execution_->order_before(stream.handle);
  if (is_running && !is_ordered) return false;
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
  if (!test(stream)) wait();
}

void Request::start() {
  if (!execution_ || !execution_->persistent())
    throw Error(ErrorCode::invalid_request,
                "start: the request is not persistent; start only requests of an _init call");
  if (is_ordered_) wait();
  if (active())
    throw Error(ErrorCode::invalid_request, "start: the persistent " + execution_->name() +
                                                " is still active; wait for it before starting it again");
  ProgressEngine::instance().restart(execution_);
}

ErrorCode Request::error() const noexcept { return execution_ && pending() ? execution_->error() : error_; }

bool Request::active() const noexcept { return execution_ && execution_->phase() == Execution::Phase::active; }

bool Request::pending() const noexcept { return execution_ && execution_->phase() != Execution::Phase::idle; }

bool Request::persistent() const noexcept { return execution_ && execution_->persistent(); }

void wait_all(std::span<Request> requests) {
  std::exception_ptr first;
  for (Request& request : requests) {
    try {
      request.wait();
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::optional<std::size_t> wait_any(std::span<Request> requests) {
  detail::Backoff backoff(true);
  while (true) {
    bool any_active = false;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!requests[i].pending()) continue;
      any_active = true;
      if (requests[i].test()) return i;
    }
    if (!any_active) return std::nullopt;
    if (!backoff.pause()) sched_yield();
  }
}

}  // namespace tutti
