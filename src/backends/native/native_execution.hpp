// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "call/execution.hpp"
#include "call/machine.hpp"
#include "call/plan.hpp"
#include "call/scratch.hpp"
#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The counts of a v-form in MPI's integer types. They must live as long as the operation.
struct NativeCounts {
  std::vector<MPI_Count> send_counts, recv_counts;
  std::vector<MPI_Aint> send_displs, recv_displs;
};

/// Runs the host MPI's own nonblocking collective.
class NativeExecution final : public Execution {
 public:
  NativeExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding,
                  std::chrono::nanoseconds timeout);

  [[nodiscard]] std::string name() const override;

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  /// The memory that the host MPI reads until the operation is done.
  struct Sent {
    NativeCounts counts{};
    ScratchPool::Block block{};
  };
  Sent sent_;
};

/// Runs the host MPI's own blocking collective. Only if the communicator's option native_blocking allows it.
void run_native_blocking(Context& comm, const Plan& plan, Binding& binding);

/// Returns an empty text if the host MPI's own collective gives what Tutti's would, else the reason why not: another
/// meaning, or a reduction that this MPI gets wrong.
[[nodiscard]] std::string why_native_differs(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail
