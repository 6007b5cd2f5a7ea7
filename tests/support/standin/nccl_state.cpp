// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/nccl_state.hpp"

#include <gtest/gtest.h>

namespace tutti::standin {

NcclState* current_nccl = nullptr;

std::string Operation::name() const {
  static const char* const names[] = {"put_signal", "signal", "wait_signal", "send",       "recv",
                                      "all_reduce", "reduce", "broadcast",   "all_gather", "reduce_scatter",
                                      "all_to_all", "gather", "scatter"};
  return names[static_cast<int>(kind)];
}

std::string Operation::text() const {
  if (kind == Kind::signal) return name() + "(peer=" + std::to_string(peer) + ")";
  if (kind == Kind::wait_signal) return name() + "(peers=" + std::to_string(waits.size()) + ")";
  std::string all = name() + "(count=" + std::to_string(count) + ", " + name_of(type);
  if (reduces()) all += ", " + name_of(op);
  if (!is_collective()) all += ", peer=" + std::to_string(peer);
  if (kind == Kind::reduce || kind == Kind::broadcast || kind == Kind::gather || kind == Kind::scatter)
    all += ", root=" + std::to_string(peer);
  if (!selection.empty()) all += ", by " + selection;
  if (takes_no_ctas) all += ", without ctas";
  return all + ")";
}

const NcclComm::Window* NcclComm::window_at(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const auto& [handle, one] : windows)
    if (at >= one.address && at < one.address + one.bytes) return &one;
  return nullptr;
}

std::optional<Result> NcclState::enter(const std::string& name, const std::string& arguments) {
  record.push_back(name + "(" + arguments + ")");
  const auto ordered = failures.find(name);
  if (ordered == failures.end()) return std::nullopt;
  const Result result = ordered->second;
  failures.erase(ordered);
  last_error = "ordered failure of " + name;
  return result;
}

Result NcclState::violate(const std::string& rule) {
  violations.push_back(rule);
  last_error = rule;
  if (!expects_violations) ADD_FAILURE() << "a rule of NCCL is broken: " << rule;
  return Result::invalid_usage;
}

Result NcclState::refuse(Result result, const std::string& text) {
  last_error = text;
  return result;
}

NcclComm* NcclState::usable(CommHandle handle, const std::string& call) {
  for (const auto& comm : comms) {
    if (comm.get() != handle) continue;
    if (comm->is_lost() && call != "comm_abort" && call != "comm_get_async_error") {
      violate(call + " on a communicator that shares resources with one that was aborted");
      return nullptr;
    }
    if (comm->is_alive()) return comm.get();
    violate(call + " on a communicator that was " +
            (comm->phase == NcclComm::Phase::aborted ? "aborted" : "destroyed"));
    return nullptr;
  }
  violate(call + " on what is no communicator");
  return nullptr;
}

NcclComm* NcclState::ready(CommHandle handle, const std::string& call) {
  NcclComm* comm = usable(handle, call);
  if (comm == nullptr) return nullptr;
  if (comm->is_busy || comm->phase != NcclComm::Phase::ready) {
    violate(call + (comm->is_busy ? " while a call on the communicator is in progress"
                                  : " on a communicator that is not ready or was finalized"));
    return nullptr;
  }
  return comm;
}

}  // namespace tutti::standin
