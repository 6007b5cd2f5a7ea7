// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

#include "handles.hpp"
#include "waiting.hpp"

using namespace tutti::c;

namespace {

/// A set may have nothing that runs: empty handles and persistent requests that were not started.
bool is_pending(tutti_request_t request) { return request != nullptr && request->request.pending(); }

/// Index of a request whose end was seen; nothing where none is pending. Its error is thrown with the index set.
void wait_any(size_t count, tutti_request_t* requests, int& index, tutti_status_t* status) {
  index = TUTTI_UNDEFINED;
  while (std::any_of(requests, requests + count, is_pending)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_pending(requests[i])) continue;
      index = static_cast<int>(i);
      if (finished(requests[i], status)) return;
      index = TUTTI_UNDEFINED;
    }
    std::this_thread::yield();
  }
}

}  // namespace

int tutti_waitall(size_t count, tutti_request_t* requests, tutti_status_t* statuses) {
  int first = TUTTI_SUCCESS;
  std::string message;
  const int outer = guard([&] {
    if (count > 0) output(requests, "requests");
    for (std::size_t i = 0; i < count; ++i) {
      const int code = tutti_wait(&requests[i], statuses != nullptr ? &statuses[i] : nullptr);
      if (code == TUTTI_SUCCESS || first != TUTTI_SUCCESS) continue;
      first = code;
      message = tutti_error_message();
    }
  });
  if (outer != TUTTI_SUCCESS) return outer;
  return first == TUTTI_SUCCESS ? first : tutti_error_set(first, message.c_str());
}

int tutti_waitany(size_t count, tutti_request_t* requests, int* index, tutti_status_t* status) {
  return guard([&] {
    if (count > 0) output(requests, "requests");
    wait_any(count, requests, output(index, "index"), status);
  });
}
