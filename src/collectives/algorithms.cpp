// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tutti/algorithms.hpp>
#include <tutti/error.hpp>

#include "call/context.hpp"
#include "core/config.hpp"
#include "planner/candidates.hpp"
#include "planner/names.hpp"
#include "schedules/registry.hpp"

namespace tutti {

namespace {

Operation operation_named(std::string_view name) {
  Operation found{};
  if (detail::tuning::find_operation(name, found)) return found;
  std::vector<std::string_view> all;
  for (const Operation operation : all_operations) all.push_back(operation_name(operation));
  throw Error(ErrorCode::invalid_argument,
              fmt::format("algorithms: there is no operation '{}'; choose from {}", name, fmt::join(all, ", ")));
}

detail::Signature signature_of(const Communicator& comm, Operation operation, const CallFacts& facts) {
  detail::Signature signature;
  signature.operation = operation;
  signature.kind = static_cast<detail::CallKind>(facts.form);
  const bool on_device = facts.memory == MemoryKind::device || facts.memory == MemoryKind::managed;
  signature.memory = on_device ? detail::MemoryClass::device : detail::MemoryClass::host;
  signature.type = facts.type;
  signature.op = facts.op;
  signature.reproducible = comm.options().reproducible;
  signature.has_timeout = comm.options().timeout.count() > 0;
  signature.root = facts.root;
  signature.accumulation = detail::accumulation_of(facts.accumulation);
  signature.count = has_hidden_size(operation) ? 0 : facts.count;
  return signature;
}

}  // namespace

std::vector<CallAlgorithm> algorithms(const Communicator& comm, std::string_view operation, const CallFacts& facts) {
  std::vector<CallAlgorithm> all;
  for (auto& candidate :
       detail::candidates(signature_of(comm, operation_named(operation), facts), comm.state()->machine()))
    all.push_back({std::move(candidate.name), std::move(candidate.excluded), candidate.nameable});
  return all;
}

}  // namespace tutti
