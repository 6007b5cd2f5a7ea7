// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/comm.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <utility>

#include "backends/nccl/comm_body.hpp"
#include "call/backoff.hpp"
#include "call/progress.hpp"
#include "core/mpi_call.hpp"
#include "device/beside_captures.hpp"

namespace tutti::detail::nccl {
namespace {

using Clock = std::chrono::steady_clock;

/// Lets MPI and the library's own operations progress, because a peer may have to complete one before it reaches its
/// NCCL call. None of them waits for the launch lock that the caller holds (device::LaunchMutex).
void drive_others() {
  if (!mpi_is_usable()) return;
  const device::BesideCaptures beside;  // the MPI may use the device
  try {
    ProgressEngine::instance().poll();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the failed operation tells its owner
  }
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

void release_graph(void* data) {
  const std::unique_ptr<std::shared_ptr<std::atomic<int>>> count(static_cast<std::shared_ptr<std::atomic<int>>*>(data));
  (*count)->fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace

Comm::Comm(std::shared_ptr<CommBody> body) : body_(std::move(body)) {}

Comm::~Comm() { end_with_patience(body_); }

const Table& Comm::table() const noexcept { return body_->table; }
CommHandle Comm::handle() const noexcept { return body_->handle; }
int Comm::device() const noexcept { return body_->device; }

void Comm::check(Result result, const char* what, std::chrono::nanoseconds timeout) {
  if (result == Result::success) return;
  const auto deadline = Clock::now() + timeout;
  while (result == Result::in_progress) {
    result = body_->poll();
    if (result != Result::in_progress) break;
    if (timeout.count() > 0 && Clock::now() > deadline)
      throw Error(ErrorCode::timeout,
                  fmt::format("{} was still in progress after {:.3g} s; a rank may not have reached the same call",
                              what, std::chrono::duration<double>(timeout).count()));
    drive_others();
    sched_yield();
  }
  require(result, what);
}

void Comm::require(Result result, const char* what) const {
  if (result == Result::success) return;
  body_->throw_if_aborted();  // an abort ends a call that blocks
  throw Error(ErrorCode::nccl, body_->text(what, result));
}

void Comm::require_usable() const { body_->throw_if_aborted(); }

Result Comm::poll() { return body_->poll(); }

void Comm::await(const Launcher::Job& job, const char* what, std::chrono::nanoseconds timeout) {
  const auto begin = Clock::now();
  bool is_late = false;
  constexpr int yields = 200;
  for (int polls = 0; !job.is_done(); ++polls) {
    if (!is_late && timeout.count() > 0 && Clock::now() - begin > timeout) {
      is_late = true;
      abort();
    }
    drive_others();
    if (polls < yields)
      sched_yield();
    else
      Backoff::sleep();  // the launcher needs a core
  }
  if (is_late)
    throw Error(ErrorCode::timeout,
                fmt::format("{} was still in progress after {:.3g} s; a rank may not have reached the same call", what,
                            std::chrono::duration<double>(timeout).count()));
  job.rethrow();
}

bool Comm::is_blocking() const noexcept { return body_->is_blocking; }
Connections& Comm::connections() noexcept { return body_->connections; }

void Comm::check_async() {
  const Result state = body_->poll_between_launches().value_or(Result::in_progress);
  if (state == Result::success || state == Result::in_progress) return;
  throw Error(ErrorCode::nccl, body_->text("an operation of NCCL", state));
}

void Comm::retain_by_graph(StreamHandle stream) {
  body_->throw_if_aborted();
  device::Runtime& runtime = device::required_runtime("NCCL");
  const std::uint64_t capture = runtime.capture_of(stream);
  if (capture == body_->last_capture) return;
  auto count = std::make_unique<std::shared_ptr<std::atomic<int>>>(body_->graphs);
  runtime.retain_by_graph(stream, release_graph, count.get());
  body_->graphs->fetch_add(1, std::memory_order_acq_rel);
  (void)count.release();
  body_->last_capture = capture;
}

int Comm::live_graphs() const noexcept { return body_->graphs->load(std::memory_order_acquire); }

void Comm::abort() noexcept {
  if (body_->aborted.exchange(true)) return;
  body_->family->is_aborted.store(true, std::memory_order_release);
  begin_abort(body_);
}

bool Comm::is_aborted() const noexcept { return body_->is_aborted(); }
bool Comm::is_lost() const noexcept { return body_->is_lost(); }
bool Comm::shares() const noexcept { return body_->config.split_share == 1; }

void Comm::collect() noexcept { go_on_ending(); }

}  // namespace tutti::detail::nccl
