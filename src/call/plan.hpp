// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "call/backend.hpp"
#include "call/execution.hpp"
#include "operation/signature.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

class Trial;

/// What one backend alone needs of a plan.
class BackendPlan {
 public:
  BackendPlan() = default;
  virtual ~BackendPlan() = default;
  BackendPlan(const BackendPlan&) = delete;
  BackendPlan& operator=(const BackendPlan&) = delete;
};

/// The decision for one signature: immutable and shared by all its executions. Holds the schedule of operations with
/// uniform counts; v-forms make theirs at each binding.
struct Plan {
  Signature signature{};
  const Backend* backend = nullptr;
  Make make = nullptr;                              ///< makes its executions
  std::uint8_t protocol = 0;                        ///< the backend's own number for it
  std::uint64_t digest = 0;                         ///< digest_of() the signature and the protocol
  std::string way{};                                ///< "shm:slots", "mpi:ring", "native"
  std::uint16_t way_text = 0;                       ///< number of the way's name in the flight recorder
  bool goes_on_alone = true;                        ///< once started it needs no call of the library on each rank
  bool captures = false;                            ///< a stream under capture records the work
  double expected = 0;                              ///< time of a call with this count, predicted or measured, seconds
  const schedules::Algorithm* algorithm = nullptr;  ///< present if the backend runs schedules
  schedules::Starts starts{};                       ///< by which a hierarchical algorithm chooses its phases
  std::size_t joined_bytes = 0;                     ///< up to which it joins the blocks between two nodes
  std::size_t slot_most = 0;  ///< v-forms in shared memory: the longest block that takes a slot, in bytes
  std::shared_ptr<const schedules::Schedule> schedule{};
  std::shared_ptr<const BackendPlan> own{};  ///< the backend's
  std::size_t pieces = 1;                    ///< into which the call is divided, of equal counts but for the last
  std::optional<Signature> piece{};          ///< present if another backend carries them: the call of one
  std::shared_ptr<const Plan> part{};        ///< its plan for a piece
  std::shared_ptr<const Plan> last_part{};   ///< for the last one, which may be shorter
  std::string_view overflow{};               ///< the backend that makes persistent calls for which no turn is left
  std::shared_ptr<const Plan> spare{};       ///< its plan for the call
  std::shared_ptr<Trial> trial{};            ///< present while calls find out which way is the fastest
};

/// Runs a blocking call by its plan, to its end.
inline void run_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  const auto begun = plan->make(context, plan, std::move(binding), nullptr, options);
  if (begun != nullptr) [[unlikely]]
    run_to_end(*begun);
}

}  // namespace tutti::detail
