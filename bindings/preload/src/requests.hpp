// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <tutti/request.hpp>
#include <utility>
#include <vector>

#include "member.hpp"

namespace tutti::preload {

/// A nonblocking or persistent call. The program holds a request of the MPI in its place, which the MPI completes by
/// itself once it is told: a generalized request, or a persistent receive of a message of this rank to itself.
class Operation : public std::enable_shared_from_this<Operation> {
 public:
  explicit Operation(std::shared_ptr<Member> member, MPI_Comm comm) : member_(std::move(member)), comm_(comm) {}
  virtual ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Makes the call and its token, or says why the MPI must make the call. A persistent one is not started yet. code:
  /// the MPI's code of a failure, which the communicator's error handler has not seen yet, as the next three return it.
  Reason make(bool is_persistent, int& code);
  /// Starts a persistent call.
  int start();
  /// Takes a step.
  int advance();
  /// Waits for the end of the call. Blocking; never inside the MPI.
  int finish();
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] MPI_Request token() const { return token_; }

 protected:
  /// Before the data go, and after they have come.
  virtual void read() = 0;
  virtual void write() = 0;
  /// The library's request, of a call that is under way, or of a persistent one.
  virtual Request begin(const Communicator& comm) = 0;
  virtual Request prepare(const Communicator& comm) = 0;

 private:
  int make_token(bool is_persistent);
  void activate();
  void complete();

  std::shared_ptr<Member> member_;
  MPI_Comm comm_;
  Request request_{};
  MPI_Request token_ = MPI_REQUEST_NULL;
  int tag_ = -1;  ///< of the message that completes a persistent token
  bool is_active_ = false;
};

/// While one lives, the MPI takes no steps of calls in this thread: its owner takes them, and has their errors.
class OwnSteps {
 public:
  OwnSteps();
  ~OwnSteps();
  OwnSteps(const OwnSteps&) = delete;
  OwnSteps& operator=(const OwnSteps&) = delete;
};

/// Whether every function that completes nonblocking calls comes here, or takes their steps in the MPI. Local.
[[nodiscard]] bool ends_nonblocking();

/// Whether every function that starts persistent calls, completes them or lets them go on comes here. Local.
[[nodiscard]] bool ends_persistent();

/// Whether the MPI takes the steps of a generalized request itself, by MPIX_Grequest_start.
[[nodiscard]] bool mpi_takes_steps();

/// Whether calls are under way, whose other ranks may wait for steps of this one.
[[nodiscard]] bool has_active();

/// Keeps a call that was made until its token has ended.
void keep(std::shared_ptr<Operation> operation);

/// The call of a token; null for the MPI's own requests.
[[nodiscard]] std::shared_ptr<Operation> operation_of(MPI_Request token);

using Operations = std::vector<std::shared_ptr<Operation>>;

/// The calls among some requests.
[[nodiscard]] Operations operations_of(int count, const MPI_Request* requests);

/// Forgets a persistent token that the program frees.
void forget(MPI_Request token);

}  // namespace tutti::preload
