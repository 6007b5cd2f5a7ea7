// SPDX-License-Identifier: BSD-3-Clause
#include "raw_nccl.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>
#include <tutti/tutti.hpp>

#include "backends/nccl/state.hpp"
#include "call/context.hpp"
#include "point.hpp"
#include "team.hpp"

namespace tutti::commbench {

using detail::nccl::Result;

RawNccl::~RawNccl() {
  if (handle_ != nullptr) (void)table_->comm_destroy(handle_);
}

void RawNccl::check(Result result, const char* what) const {
  while (result == Result::in_progress) {
    (void)table_->comm_get_async_error(handle_, &result);
    if (result == Result::in_progress) std::this_thread::yield();
  }
  if (result != Result::success)
    throw std::runtime_error(fmt::format("{}: {}", what, table_->get_error_string(result)));
}

/// Where Tutti's own set-up, which has a timeout, succeeded, this one does.
std::string RawNccl::initialise(const Communicator& comm) {
  comm.prepare_device();
  const detail::nccl::State* state = detail::nccl::state_of(*comm.state());
  if (state == nullptr) return "NCCL cannot be used here: " + comm.device_report();
  table_ = &state->comm().table();
  std::string problem;
  detail::nccl::UniqueId id{};
  if (comm.rank() == 0) {
    const Result result = table_->get_unique_id(&id);
    if (result != Result::success) problem = table_->get_error_string(result);
  }
  if (const std::string first = Team(comm).first_text(problem); !first.empty()) return first;
  bcast(comm, id.internal, 0);
  barrier(comm);
  detail::nccl::Config config;
  // As programs have it; the stand-in of the tests has the library's form only.
  config.blocking = detail::device::required_runtime("raw NCCL").runs_host_functions() ? 0 : 1;
  try {
    const detail::device::Guard guard(state->comm().device());
    check(table_->comm_init_rank_config(&handle_, comm.size(), id, comm.rank(), &config), "ncclCommInitRankConfig");
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  return Team(comm).first_text(problem);
}

void RawNccl::connect(const Communicator& comm) {
  if (handle_ == nullptr && why_not_.empty()) why_not_ = initialise(comm);
  if (!why_not_.empty()) throw NotApplicable(why_not_);
}

}  // namespace tutti::commbench
