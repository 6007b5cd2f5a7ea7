// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <tutti/environment.hpp>
#include <vector>

#include "guard.hpp"
#include "handles.hpp"

using namespace tutti::c;
using tutti::Error;
using tutti::ErrorCode;
using tutti::Request;
using tutti::Stream;

namespace {

/// Detached requests that use a user's operation: they keep it alive until they are done.
class Detached {
 public:
  // Never destroyed: requests may be freed after the statics of this file.
  static Detached& instance() {
    static auto* detached = new Detached;
    return *detached;
  }
  void keep(RequestRecord request) {
    tutti::detail::give_up(request.request);
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [](const auto& kept) { return !kept.request.active(); });
    requests_.push_back(std::move(request));
  }

 private:
  std::mutex mutex_;
  std::vector<RequestRecord> requests_;
};

void discard(tutti_request_t& request, RequestRecord& record) {
  if (record.op && record.request.active()) Detached::instance().keep(std::move(record));
  free_record(request, "request");
  request = TUTTI_REQUEST_NULL;
}

/// Ends a request whose operation succeeded or failed: frees it unless it is persistent.
void conclude(tutti_request_t& request, RequestRecord& record, tutti_status_t* status) {
  give_status(status, record.request.status());
  if (!record.request.persistent()) discard(request, record);
}

/// Concludes a request when `look` says that its operation ended, or throws its error. NULL has ended.
template <typename Look>
bool conclude_if(tutti_request_t& request, tutti_status_t* status, const Look& look) {
  if (request == nullptr) {
    give_status(status, {});
    return true;
  }
  RequestRecord& record = record_of(request, "request");
  try {
    if (!look(record.request)) return false;
  } catch (...) {
    conclude(request, record, status);
    throw;
  }
  conclude(request, record, status);
  return true;
}

/// Whether the operation ended; with a stream: whether the stream waits for it. Never blocks.
bool finished(tutti_request_t& request, tutti_status_t* status, Stream stream = {}) {
  return conclude_if(request, status, [&](Request& of) { return of.test(stream); });
}

/// The same, blocking.
void wait(tutti_request_t& request, tutti_status_t* status, Stream stream = {}) {
  conclude_if(request, status, [&](Request& of) {
    of.wait(stream);
    return true;
  });
}

Request& persistent(tutti_request_t request) {
  if (request == nullptr)
    throw_misuse(ErrorCode::invalid_request,
                 "argument request is TUTTI_REQUEST_NULL; pass a request made by a function that ends in _init");
  return record_of(request, "request").request;
}

/// Orders a request before what follows on a stream. An operation of the user's may run after this call, and is kept
/// alive until it has.
bool order(tutti_request_t& request, Stream stream, bool waits) {
  const OpReference op = request != nullptr ? record_of(request, "request").op : nullptr;
  Request running(op ? record_of(request, "request").request.execution() : nullptr);
  if (waits)
    wait(request, nullptr, stream);
  else if (!finished(request, nullptr, stream))
    return false;
  if (running.active()) Detached::instance().keep({std::move(running), op});
  return true;
}

/// Handles may be NULL, and persistent requests may not have been started.
bool is_pending(tutti_request_t request) {
  return request != nullptr && record_of(request, "request").request.pending();
}

bool is_any_pending(std::size_t count, const tutti_request_t* requests) {
  return std::any_of(requests, requests + count, is_pending);
}

/// Sets `index` to the first request found finished, else to TUTTI_UNDEFINED. It is set when an error is thrown too.
bool test_any(std::size_t count, tutti_request_t* requests, int& index, tutti_status_t* status) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_pending(requests[i])) continue;
    index = static_cast<int>(i);
    if (finished(requests[i], status)) return true;
  }
  index = TUTTI_UNDEFINED;
  return false;
}

/// The first failure of several requests: its code, and its message for this thread.
class FirstFailure {
 public:
  void note(int code) {
    if (code == TUTTI_SUCCESS || code_ != TUTTI_SUCCESS) return;
    code_ = code;
    message_ = tutti_error_message();
  }
  [[nodiscard]] int report() const { return code_ == TUTTI_SUCCESS ? code_ : tutti_error_set(code_, message_.c_str()); }

 private:
  int code_ = TUTTI_SUCCESS;
  std::string message_;
};

/// Completes all requests that have finished, and writes their number, indices and statuses; TUTTI_UNDEFINED if none is
/// pending.
void test_some(std::size_t count, tutti_request_t* requests, int& completed, int* indices, tutti_status_t* statuses,
               FirstFailure& failure) {
  completed = is_any_pending(count, requests) ? 0 : TUTTI_UNDEFINED;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_pending(requests[i])) continue;
    int done = 0;
    failure.note(tutti_test(&requests[i], &done, statuses != nullptr ? &statuses[completed] : nullptr));
    if (done != 0) indices[completed++] = static_cast<int>(i);
  }
}

bool is_over(tutti_request_t request) { return request == nullptr || !record_of(request, "request").request.active(); }

}  // namespace

int tutti_test(tutti_request_t* request, int* done, tutti_status_t* status) {
  return guard([&] {
    output(done, "done") = 1;
    *done = finished(output(request, "request"), status) ? 1 : 0;
  });
}

int tutti_wait(tutti_request_t* request, tutti_status_t* status) {
  return guard([&] { wait(output(request, "request"), status); });
}

int tutti_wait_on_stream(tutti_request_t* request, int stream_kind, void* stream) {
  return guard([&] {
    const tutti::Stream chosen = stream_of(stream_kind, stream);
    order(output(request, "request"), chosen, true);
  });
}

int tutti_test_on_stream(tutti_request_t* request, int* done, int stream_kind, void* stream) {
  return guard([&] {
    output(done, "done") = 1;
    const tutti::Stream chosen = stream_of(stream_kind, stream);
    *done = order(output(request, "request"), chosen, false) ? 1 : 0;
  });
}

int tutti_waitall(size_t count, tutti_request_t* requests, tutti_status_t* statuses) {
  FirstFailure failure;
  const int outer = guard([&] {
    if (count > 0) output(requests, "requests");
    for (std::size_t i = 0; i < count; ++i)
      failure.note(tutti_wait(&requests[i], statuses != nullptr ? &statuses[i] : nullptr));
  });
  return outer != TUTTI_SUCCESS ? outer : failure.report();
}

int tutti_waitany(size_t count, tutti_request_t* requests, int* index, tutti_status_t* status) {
  return guard([&] {
    if (count > 0) output(requests, "requests");
    output(index, "index") = TUTTI_UNDEFINED;
    while (is_any_pending(count, requests) && !test_any(count, requests, *index, status)) std::this_thread::yield();
  });
}

int tutti_testany(size_t count, tutti_request_t* requests, int* index, int* done, tutti_status_t* status) {
  return guard([&] {
    if (count > 0) output(requests, "requests");
    output(index, "index") = TUTTI_UNDEFINED;
    output(done, "done") = 1;
    if (is_any_pending(count, requests)) *done = test_any(count, requests, *index, status) ? 1 : 0;
  });
}

int tutti_testall(size_t count, tutti_request_t* requests, int* done, tutti_status_t* statuses) {
  const int code = guard([&] {
    if (count > 0) output(requests, "requests");
    output(done, "done") = 0;
    tutti::progress();
    *done = std::all_of(requests, requests + count, is_over) ? 1 : 0;
  });
  return code != TUTTI_SUCCESS || *done == 0 ? code : tutti_waitall(count, requests, statuses);
}

int tutti_testsome(size_t count, tutti_request_t* requests, int* completed, int* indices, tutti_status_t* statuses) {
  FirstFailure failure;
  const int outer = guard([&] {
    if (count > 0) output(requests, "requests");
    if (count > 0) output(indices, "indices");
    test_some(count, requests, output(completed, "completed"), indices, statuses, failure);
  });
  return outer != TUTTI_SUCCESS ? outer : failure.report();
}

int tutti_waitsome(size_t count, tutti_request_t* requests, int* completed, int* indices, tutti_status_t* statuses) {
  while (true) {
    const int code = tutti_testsome(count, requests, completed, indices, statuses);
    if (code != TUTTI_SUCCESS || *completed != 0) return code;
    std::this_thread::yield();
  }
}

int tutti_start(tutti_request_t* request) {
  return guard([&] { persistent(output(request, "request")).start(); });
}

int tutti_startall(size_t count, tutti_request_t* requests) {
  return guard([&] {
    if (count > 0) output(requests, "requests");
    for (std::size_t i = 0; i < count; ++i) persistent(requests[i]).start();
  });
}

int tutti_request_free(tutti_request_t* request) {
  return guard([&] {
    tutti_request_t& given = output(request, "request");
    if (given != nullptr) discard(given, record_of(given, "request"));
  });
}

int tutti_request_error(tutti_request_t request, int* code) {
  return guard([&] {
    const ErrorCode error = request != nullptr ? record_of(request, "request").request.error() : ErrorCode::success;
    output(code, "code") = static_cast<int>(error);
  });
}
