// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "call/execution.hpp"
#include "call/point_to_point.hpp"

namespace tutti::detail {

/// Looks once for a message on the private point-to-point communicator.
[[nodiscard]] std::optional<Status> probe_once(const Context& comm, const Wanted& wanted);

/// Looks for a message until it is here, and leaves it there.
class ProbeExecution final : public Execution {
 public:
  ProbeExecution(std::shared_ptr<Context> comm, const Wanted& wanted, std::chrono::nanoseconds timeout)
      : Execution(std::move(comm), timeout, false), wanted_(wanted) {}
  [[nodiscard]] std::string name() const override { return "probe"; }

 private:
  bool begin() override { return step(); }
  bool step() override;
  void cancel() noexcept override {}
  [[nodiscard]] bool breaks_communicator() const noexcept override { return false; }

  Wanted wanted_;
};

}  // namespace tutti::detail
