// SPDX-License-Identifier: BSD-3-Clause
#include "raw_nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <tutti/tutti.hpp>

#include "names.hpp"
#include "point.hpp"
#include "team.hpp"

namespace tutti::commbench {
namespace {

bool tutti_uses_nccl(const Communicator& comm) {
  const auto names = all_algorithm_names(comm, Operation::allreduce, MemorySpace::device);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("nccl:"); });
}

/// Runs an action that may fail on some ranks; the text of the first failure, on all of them.
template <typename Action>
std::string failure_of(const Communicator& comm, const Action& action) {
  std::string problem;
  try {
    action();
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  return Team(comm).first_text(problem);
}

}  // namespace

RawNccl::~RawNccl() {
  if (handle_ != nullptr) (void)table_->comm_destroy(handle_);
}

void RawNccl::check(NcclResult result, const char* what) const {
  while (result == NcclResult::in_progress) {
    (void)table_->comm_get_async_error(handle_, &result);
    if (result == NcclResult::in_progress) std::this_thread::yield();
  }
  if (result != NcclResult::success)
    throw std::runtime_error(fmt::format("{}: {}", what, table_->get_error_string(result)));
}

/// Where Tutti's own set-up, which has a timeout, succeeded, this one does.
std::string RawNccl::initialise(const Communicator& comm) {
  comm.prepare_device();
  if (!tutti_uses_nccl(comm)) return "NCCL cannot be used here: " + comm.device_report();
  NcclUniqueId id{};
  const std::string problem = failure_of(comm, [&] {
    table_ = &nccl_table();
    if (comm.rank() == 0) check(table_->get_unique_id(&id), "ncclGetUniqueId");
  });
  if (!problem.empty()) return problem;
  bcast(comm, id.internal, 0);
  barrier(comm);
  return failure_of(comm,
                    [&] { check(table_->comm_init_rank(&handle_, comm.size(), id, comm.rank()), "ncclCommInitRank"); });
}

void RawNccl::connect(const Communicator& comm) {
  if (handle_ == nullptr && why_not_.empty()) why_not_ = initialise(comm);
  if (!why_not_.empty()) throw NotApplicable(why_not_);
}

}  // namespace tutti::commbench
