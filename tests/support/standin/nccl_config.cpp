// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's collectives with a configuration of their own, from NCCL 2.31 on.
#include <algorithm>
#include <array>
#include <string_view>

#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {
namespace {

using detail::nccl::CallConfig;
using Kind = Operation::Kind;

/// An algorithm of NCCL 2.32, and the collectives that have it.
struct Algorithm {
  std::string_view name;
  bool broadcast, reduce, all_gather, reduce_scatter, all_reduce;
  [[nodiscard]] bool makes(Kind kind) const {
    return (kind == Kind::broadcast && broadcast) || (kind == Kind::reduce && reduce) ||
           (kind == Kind::all_gather && all_gather) || (kind == Kind::reduce_scatter && reduce_scatter) ||
           (kind == Kind::all_reduce && all_reduce);
  }
};
constexpr std::array<Algorithm, 14> algorithms = {{{"tree_ll", false, false, false, false, true},
                                                   {"tree_ll128", false, false, false, false, true},
                                                   {"tree_simple", false, false, false, false, true},
                                                   {"ring_ll", true, true, true, true, true},
                                                   {"ring_ll128", true, true, true, true, true},
                                                   {"ring_simple", true, true, true, true, true},
                                                   {"collnet_direct_simple", false, false, true, true, true},
                                                   {"collnet_chain_simple", false, false, false, false, true},
                                                   {"nvls_simple", false, false, true, true, true},
                                                   {"nvlstree_simple", false, false, false, false, true},
                                                   {"pat_simple", false, false, true, true, false},
                                                   {"symk_ll", false, false, true, true, false},
                                                   {"symk_agxll_r", false, false, false, false, true},
                                                   {"symk_ld", false, false, false, true, false}}};

/// What this thread has told the call that it makes.
thread_local const CallConfig* told = nullptr;

}  // namespace

void set_told(const CallConfig* config) { told = config; }

Result tell(NcclState& state, Operation& o) {
  if (told == nullptr) return Result::success;
  if (told->magic != 0xcafebeefU || told->size < sizeof(CallConfig) || told->version < 23100 ||
      static_cast<int>(told->version) > state.version)
    return state.violate(o.name() + ": the configuration was not initialised, or is for another version");
  if (told->profiler_tag >> 63U != 0) return state.violate(o.name() + ": the tag is one of NCCL's own");
  state.last_tag = told->profiler_tag;
  o.selection = told->selection == nullptr ? "" : told->selection;
  o.takes_no_ctas = told->cta_policy == 2;
  if (o.selection.empty()) return Result::success;
  const bool is_known = std::any_of(algorithms.begin(), algorithms.end(), [&](const Algorithm& one) {
    return one.name.starts_with(o.selection) && one.makes(o.kind);
  });
  if (!is_known) return state.violate(o.name() + ": no algorithm " + o.selection);
  if (state.missing.contains(o.selection) && told->forces_selection == 1)
    return state.refuse(Result::invalid_usage, "algSelection: no algorithm in the selected set is available");
  return Result::success;
}

}  // namespace tutti::standin
