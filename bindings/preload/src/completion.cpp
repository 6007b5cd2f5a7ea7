// SPDX-License-Identifier: BSD-3-Clause
// The functions by which a program completes requests. Those of the library's calls are carried to their end here; the
// rest is the MPI's, which knows their tokens as requests of its own.
#include <mpi.h>

#include <memory>

#include "errors.hpp"
#include "requests.hpp"
#include "waiting.hpp"
#include "watch/completion.hpp"
#include "watch/requests.hpp"

namespace tutti::preload {
namespace {

/// Gives the first failure to the handler of its communicator.
class Outcome {
 public:
  void note(const Operation& operation, int code) {
    if (code_ != MPI_SUCCESS || code == MPI_SUCCESS) return;
    code_ = code;
    comm_ = operation.comm();
  }
  /// code: of the MPI's own function, which has called its handler.
  [[nodiscard]] int end(int code) const { return code_ == MPI_SUCCESS ? code : raise(comm_, code_); }

 private:
  OwnSteps steps_{};
  int code_ = MPI_SUCCESS;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

void advance(const Operations& operations, Outcome& outcome) {
  for (const auto& operation : operations) outcome.note(*operation, operation->advance());
}

/// Asks the MPI by attempt() until it says that the wait is over; the calls advance meanwhile.
template <typename Attempt>
int until_done(const Operations& operations, const Attempt& attempt) {
  Outcome outcome;
  return outcome.end(wait_by_steps([&](int& is_done) {
    advance(operations, outcome);
    return attempt(is_done);
  }));
}

template <typename Work>
int once(const Operations& operations, const Work& work) {
  Outcome outcome;
  if (operations.empty()) step();
  advance(operations, outcome);
  return outcome.end(work());
}

/// After a function that tells how far requests are. flag: of all of them.
int told(int code, int flag, int count, const MPI_Request* requests) {
  for (int i = 0; is_checked() && code == MPI_SUCCESS && flag != 0 && i < count; ++i)
    watched_requests().tell_end(requests[i]);
  return code;
}

int start(MPI_Request* request, const std::shared_ptr<Operation>& operation) {
  if (!operation) return PMPI_Start(request);
  const int code = operation->start();
  return code == MPI_SUCCESS ? PMPI_Start(request) : raise(operation->comm(), code);
}

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return watch_completion(1, request, Until::all, [&] {
    const auto operation = request == nullptr ? nullptr : operation_of(*request);
    Outcome outcome;
    if (operation) outcome.note(*operation, operation->finish());
    return outcome.end(wait_or_steps([&] { return PMPI_Wait(request, status); },
                                     [&](int& is_done) { return PMPI_Test(request, &is_done, status); }));
  });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return watch_completion(count, requests, Until::all, [&] {
    // One after the other: the library looks after the MPI's requests while it waits.
    Outcome outcome;
    for (const auto& operation : operations_of(count, requests)) outcome.note(*operation, operation->finish());
    return outcome.end(wait_or_steps([&] { return PMPI_Waitall(count, requests, statuses); },
                                     [&](int& is_done) { return PMPI_Testall(count, requests, &is_done, statuses); }));
  });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return watch_completion(count, requests, Until::any, [&] {
    const Operations operations = operations_of(count, requests);
    if (!has_active()) return PMPI_Waitany(count, requests, index, status);
    return until_done(operations, [&](int& is_done) { return PMPI_Testany(count, requests, index, &is_done, status); });
  });
}

int MPI_Waitsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  return watch_completion(count, requests, Until::any, [&] {
    const Operations operations = operations_of(count, requests);
    if (!has_active()) return PMPI_Waitsome(count, requests, number, indices, statuses);
    return until_done(operations, [&](int& is_done) {
      const int code = PMPI_Testsome(count, requests, number, indices, statuses);
      is_done = code == MPI_SUCCESS && *number != 0 ? 1 : 0;
      return code;
    });
  });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return watch_completion(1, request, Until::none, [&] {
    return once(operations_of(1, request), [&] { return PMPI_Test(request, flag, status); });
  });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return watch_completion(count, requests, Until::none, [&] {
    return once(operations_of(count, requests), [&] { return PMPI_Testall(count, requests, flag, statuses); });
  });
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return watch_completion(count, requests, Until::none, [&] {
    return once(operations_of(count, requests), [&] { return PMPI_Testany(count, requests, index, flag, status); });
  });
}

int MPI_Testsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  return watch_completion(count, requests, Until::none, [&] {
    return once(operations_of(count, requests),
                [&] { return PMPI_Testsome(count, requests, number, indices, statuses); });
  });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const int code = once(operations_of(1, &request), [&] { return PMPI_Request_get_status(request, flag, status); });
  return told(code, *flag, 1, &request);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const int code = once(operations_of(count, requests),
                        [&] { return PMPI_Request_get_status_all(count, requests, flag, statuses); });
  return told(code, *flag, count, requests);
}

int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const int code = once(operations_of(count, requests),
                        [&] { return PMPI_Request_get_status_any(count, requests, index, flag, status); });
  return *index == MPI_UNDEFINED ? code : told(code, *flag, 1, &requests[*index]);
}

int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* number, int indices[],
                                MPI_Status statuses[]) {
  const int code = once(operations_of(count, requests),
                        [&] { return PMPI_Request_get_status_some(count, requests, number, indices, statuses); });
  for (int i = 0; code == MPI_SUCCESS && *number != MPI_UNDEFINED && i < *number; ++i)
    (void)told(code, 1, 1, &requests[indices[i]]);
  return code;
}
#endif

int MPI_Start(MPI_Request* request) {
  if (const int code = start_watched(1, request); code != MPI_SUCCESS) return code;
  return start(request, request == nullptr ? nullptr : operation_of(*request));
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (requests == nullptr) return PMPI_Startall(count, requests);
  if (const int code = start_watched(count, requests); code != MPI_SUCCESS) return code;
  if (operations_of(count, requests).empty()) return PMPI_Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    const int code = start(&requests[i], operation_of(requests[i]));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  // Whether a message that was cancelled comes is known later, if at all.
  if (is_checked() && request != nullptr) watched_requests().cancel(*request);
  return PMPI_Cancel(request);
}

int MPI_Request_free(MPI_Request* request) {
  const auto operation = request == nullptr ? nullptr : operation_of(*request);
  if (operation) {
    const int code = operation->finish();
    if (code != MPI_SUCCESS) return raise(operation->comm(), code);
    forget(*request);
  }
  if (is_watched() && request != nullptr && watched_requests().forget(*request)) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return PMPI_Request_free(request);
}
}
