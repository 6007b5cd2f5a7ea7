// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "call/round_moments.hpp"
#include "call/scratch.hpp"
#include "operation/shape.hpp"

namespace tutti::detail {

/// Runs any schedule over MPI point-to-point messages on the private communicator: posts a round, tests it, does its
/// local work, and continues with the next round.
class ScheduleExecution final : public Execution {
 public:
  /// tag: equal on all ranks, and different from the tag of every other execution that can be outstanding at the same
  /// time.
  ScheduleExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding, int tag,
                    std::chrono::nanoseconds timeout);
  ~ScheduleExecution() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override;

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  void make_schedule(std::span<const std::size_t> told);
  [[nodiscard]] std::vector<std::size_t> tell_counts();
  void reserve();
  /// The call sends a copy of its blocks.
  [[nodiscard]] bool has_blocks_in_place() const {
    return binding_.in_place && plan_->signature.operation == Operation::alltoallv;
  }
  void prepare_input();
  void post_round();
  void do_exchange(const schedules::Exchange& exchange);
  [[nodiscard]] Shape shape() const { return {plan_->signature, binding_, comm().rank, comm().size}; }
  void do_locals();
  void finish_result();
  void reduce(const schedules::Local& local);
  [[nodiscard]] const std::byte* read_address(const schedules::Slice& slice) const;
  [[nodiscard]] std::byte* write_address(const schedules::Slice& slice) const;

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  std::shared_ptr<const schedules::Schedule> schedule_;  ///< null until the call begins, if the algorithm tells counts
  int tag_;
  std::size_t unit_;             ///< size of an element, in bytes
  const void* input_ = nullptr;  ///< the user's buffer, or a scaled or saved copy
  ScratchPool::Block input_copy_;
  ScratchPool::Block scratch_;
  std::size_t round_ = 0;
  RoundMoments* const moments_;        ///< null: nobody asks for them
  bool posted_ = false;                ///< the first round; before, the communicator for it may still be coming
  std::vector<MPI_Request> requests_;  ///< requests of the round; all before next_ are complete
  std::size_t next_ = 0;
  static constexpr std::size_t most_on_stack = 16;
  std::vector<const void*> many_inputs_;  ///< of one combination, if they are more than that
};

}  // namespace tutti::detail
