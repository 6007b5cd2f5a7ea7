// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <tutti/exact.hpp>

#include "collectives/exact/terms.hpp"

namespace tutti {
namespace {

using detail::ExactForm;
using detail::TermsWork;

/// What is summed, and where the results go.
struct Sums {
  const ExactTerms& terms;
  ExactForm form;
  const ConstBuffer* y;
  const Buffer& results;
  const char* results_name;
};
Sums sums_of(const ExactTerms& terms, const Buffer& sums) { return {terms, ExactForm::sum, nullptr, sums, "sums"}; }
Sums dots_of(const ExactTerms& x, const ConstBuffer& y, const Buffer& dots) {
  return {x, ExactForm::dot, &y, dots, "dots"};
}
Sums norms_of(const ExactTerms& x, const Buffer& norms) { return {x, ExactForm::squares, nullptr, norms, "norms"}; }

detail::ExactCall call_of(const Communicator& comm, const char* name, const Options& options) {
  return {&comm, name, options.memory};
}

void run(const Communicator& comm, const char* name, const Sums& s, const Options& options) {
  TermsWork work(call_of(comm, name, options), s.terms, s.form, s.y, s.results, s.results_name);
  detail::run_exact(comm, work, options);
}

/// The work of a call that goes on.
std::unique_ptr<TermsWork> kept(const Communicator& comm, const char* name, const Sums& s, const Options& options) {
  return std::make_unique<TermsWork>(call_of(comm, name, options), s.terms, s.form, s.y, s.results, s.results_name);
}
Request start(const Communicator& comm, const char* name, const Sums& sums, const Options& options) {
  return detail::start_exact(comm, kept(comm, name, sums, options), options);
}
Request prepare(const Communicator& comm, const char* name, const Sums& sums, const Options& options) {
  return detail::prepare_exact(comm, kept(comm, name, sums, options), options);
}

}  // namespace

void exact_sum(const Communicator& comm, const ExactTerms& terms, Buffer sums, const Options& options) {
  run(comm, "exact_sum", sums_of(terms, sums), options);
}
Request iexact_sum(const Communicator& comm, const ExactTerms& terms, Buffer sums, const Options& options) {
  return start(comm, "iexact_sum", sums_of(terms, sums), options);
}
Request exact_sum_init(const Communicator& comm, const ExactTerms& terms, Buffer sums, const Options& options) {
  return prepare(comm, "exact_sum_init", sums_of(terms, sums), options);
}

void exact_dot(const Communicator& comm, const ExactTerms& x, ConstBuffer y, Buffer dots, const Options& options) {
  run(comm, "exact_dot", dots_of(x, y, dots), options);
}
Request iexact_dot(const Communicator& comm, const ExactTerms& x, ConstBuffer y, Buffer dots, const Options& options) {
  return start(comm, "iexact_dot", dots_of(x, y, dots), options);
}
Request exact_dot_init(const Communicator& comm, const ExactTerms& x, ConstBuffer y, Buffer dots,
                       const Options& options) {
  return prepare(comm, "exact_dot_init", dots_of(x, y, dots), options);
}

void exact_norm2(const Communicator& comm, const ExactTerms& x, Buffer norms, const Options& options) {
  run(comm, "exact_norm2", norms_of(x, norms), options);
}
Request iexact_norm2(const Communicator& comm, const ExactTerms& x, Buffer norms, const Options& options) {
  return start(comm, "iexact_norm2", norms_of(x, norms), options);
}
Request exact_norm2_init(const Communicator& comm, const ExactTerms& x, Buffer norms, const Options& options) {
  return prepare(comm, "exact_norm2_init", norms_of(x, norms), options);
}

}  // namespace tutti
