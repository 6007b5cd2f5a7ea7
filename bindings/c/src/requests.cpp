// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <vector>

#include "handles.hpp"
#include "waiting.hpp"

using namespace tutti::c;
using tutti::Error;
using tutti::ErrorCode;

namespace tutti::c {
namespace {

/// Detached requests whose operation is a user's: the operation must last until they are done.
class Detached {
 public:
  // Never destroyed: requests may be freed after the statics of this file.
  static Detached& instance() {
    static auto* detached = new Detached;
    return *detached;
  }
  void keep(tutti_request_t request) {
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [](const auto& kept) { return !kept->request.active(); });
    requests_.emplace_back(request);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<tutti_request_s>> requests_;
};

void discard(tutti_request_t& request) {
  if (request != nullptr && request->op && request->request.active())
    Detached::instance().keep(request);
  else
    delete request;
  request = TUTTI_REQUEST_NULL;
}

void give_status(tutti_status_t* place, const Status& found) noexcept {
  if (place != nullptr) *place = {found.source, found.tag, found.count};
}

/// After test() or wait() saw the end of an operation, by success or by an error.
void conclude(tutti_request_t& request, tutti_status_t* status) {
  give_status(status, request->request.status());
  if (!request->request.persistent()) discard(request);
}

tutti_request_t persistent(tutti_request_t request) {
  if (request == nullptr)
    throw Error(ErrorCode::invalid_request,
                "argument request is TUTTI_REQUEST_NULL; start what a function that ends in _init made");
  return request;
}

/// A stream may wait for an operation that goes on after this call: a user's is kept as long.
bool order(tutti_request_t& request, Stream stream, bool waits) {
  const OpReference op = request != nullptr ? request->op : nullptr;
  Request running(op ? request->request.execution() : nullptr);
  if (waits)
    wait(request, nullptr, stream);
  else if (!finished(request, nullptr, stream))
    return false;
  if (running.active()) Detached::instance().keep(new tutti_request_s{std::move(running), op});
  return true;
}

Stream stream_of(int kind, void* handle) {
  if (kind != TUTTI_STREAM_NONE && kind != TUTTI_STREAM_CUDA)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("argument stream_kind is {}; pass TUTTI_STREAM_NONE or _CUDA", kind));
  return {static_cast<StreamKind>(kind), handle};
}

}  // namespace

bool finished(tutti_request_t& request, tutti_status_t* status, Stream stream) {
  if (request == nullptr) {
    give_status(status, {});
    return true;
  }
  try {
    if (!request->request.test(stream)) return false;
  } catch (...) {
    conclude(request, status);
    throw;
  }
  conclude(request, status);
  return true;
}

void wait(tutti_request_t& request, tutti_status_t* status, Stream stream) {
  if (request == nullptr) return give_status(status, {});
  try {
    request->request.wait(stream);
  } catch (...) {
    conclude(request, status);
    throw;
  }
  conclude(request, status);
}

}  // namespace tutti::c

int tutti_test(tutti_request_t* request, int* done, tutti_status_t* status) {
  return guard([&] {
    output(done, "done") = 1;
    *done = finished(output(request, "request"), status) ? 1 : 0;
  });
}

int tutti_wait(tutti_request_t* request, tutti_status_t* status) {
  return guard([&] { wait(output(request, "request"), status, {}); });
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

int tutti_start(tutti_request_t* request) {
  return guard([&] { persistent(output(request, "request"))->request.start(); });
}

int tutti_startall(size_t count, tutti_request_t* requests) {
  return guard([&] {
    if (count > 0) output(requests, "requests");
    for (std::size_t i = 0; i < count; ++i) persistent(requests[i])->request.start();
  });
}

int tutti_request_free(tutti_request_t* request) {
  return guard([&] { discard(output(request, "request")); });
}

int tutti_request_error(tutti_request_t request, int* code) {
  return guard([&] {
    const ErrorCode error = request != nullptr ? request->request.error() : ErrorCode::success;
    output(code, "code") = static_cast<int>(error);
  });
}
