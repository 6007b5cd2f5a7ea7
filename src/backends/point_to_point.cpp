// SPDX-License-Identifier: BSD-3-Clause
#include "backends/point_to_point.hpp"

#include <array>
#include <utility>

#include "backends/mpi/point_to_point_execution.hpp"
#include "backends/mpi/probe_execution.hpp"

namespace tutti::detail {

std::shared_ptr<Execution> make_transfers(const ContextPtr& context, std::string_view name, PointToPoints&& transfers,
                                          CallKind kind, const CallOptions& options) {
  return std::make_shared<PointToPointExecution>(context, name, std::move(transfers), kind, options);
}

Status drive_transfers(const ContextPtr& context, std::string_view name, PointToPoints&& transfers,
                       const CallOptions& options) {
  PointToPointExecution execution(context, name, std::move(transfers), CallKind::blocking, options);
  run_to_end(execution);
  return execution.status();
}

namespace {

PointToPoints receive_first(const PointToPoint* send, const PointToPoint* recv) {
  if (recv == nullptr) return PointToPoints(std::array{*send});
  PointToPoint receive = *recv;
  receive.matches_first = recv->peer != MPI_PROC_NULL;
  return send == nullptr ? PointToPoints(std::array{receive}) : PointToPoints(std::array{receive, *send});
}

}  // namespace

Status continue_messages(const ContextPtr& context, std::string_view name, const PointToPoint* send,
                         const PointToPoint* recv, const CallOptions& options, const ShortMessages& begun) {
  const bool is_received = begun.is_received() && recv != nullptr;
  PointToPointExecution execution(context, name, receive_first(send, is_received ? nullptr : recv), CallKind::blocking,
                                  options);
  execution.resume(begun.begun());
  run_to_end(execution);
  return is_received ? begun.status() : execution.status();
}

std::optional<Status> look_for(const Context& context, const Wanted& wanted) { return probe_once(context, wanted); }

Status wait_for(const ContextPtr& context, const Wanted& wanted, const CallOptions& options) {
  ProbeExecution execution(context, wanted, options.timeout);
  run_to_end(execution);
  return execution.status();
}

}  // namespace tutti::detail
