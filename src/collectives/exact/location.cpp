// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/exact.hpp>

#include "collectives/exact/terms.hpp"

namespace tutti {
namespace {

Float64Int64 location(const Communicator& comm, const char* name, const ExactTerms& terms, std::int64_t first_index,
                      const ReduceOp& op, const Options& options) {
  const detail::ExactCall call{&comm, name, options.memory};
  call.require(!terms.weights, "weights", "is given; only sums have weights");
  double unused = 0;
  const detail::TermsWork work(call, terms, detail::ExactForm::sum, nullptr, Buffer(&unused, 1), "values");
  Float64Int64 best = kernels::exact::locate(work.terms_of(0), op.kind() == ReduceKind::maxloc, first_index);
  allreduce(comm, in_place, Buffer(&best, 1), op, options);
  if (best.index == std::numeric_limits<std::int64_t>::max()) return {std::numeric_limits<double>::quiet_NaN(), -1};
  return best;
}

}  // namespace

Float64Int64 exact_minloc(const Communicator& comm, const ExactTerms& terms, std::int64_t first_index,
                          const Options& options) {
  return location(comm, "exact_minloc", terms, first_index, minloc, options);
}

Float64Int64 exact_maxloc(const Communicator& comm, const ExactTerms& terms, std::int64_t first_index,
                          const Options& options) {
  return location(comm, "exact_maxloc", terms, first_index, maxloc, options);
}

}  // namespace tutti
