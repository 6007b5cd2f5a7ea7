// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/bound_schedule.hpp"

#include "communicator/comm_state.hpp"

namespace tutti::detail {
namespace {

std::shared_ptr<const schedules::Schedule> generate(const CommState& comm, const Plan& plan, std::size_t count,
                                                    const Binding& binding) {
  schedules::Problem problem = problem_of(comm.rank, comm.size, plan.signature.root, count, binding);
  problem.element_size = plan.signature.type.size();
  problem.node_of = comm.node_of;
  return std::make_shared<const schedules::Schedule>(plan.algorithm->generate(problem));
}

}  // namespace

std::shared_ptr<const schedules::Schedule> bound_schedule(const CommState& comm, const Plan& plan,
                                                          const Binding& binding) {
  if (plan.schedule) return plan.schedule;
  return generate(comm, plan, plan.signature.count, binding);
}

std::shared_ptr<const Plan> with_count(const CommState& comm, const Plan& plan, std::size_t count) {
  auto other = std::make_shared<Plan>(plan);
  other->signature.count = count;
  if (plan.schedule) other->schedule = generate(comm, plan, count, Binding{});
  return other;
}

}  // namespace tutti::detail
