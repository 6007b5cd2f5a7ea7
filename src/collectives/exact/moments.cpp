// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <limits>
#include <tutti/exact.hpp>
#include <vector>

#include "collectives/exact/terms.hpp"
#include "kernels/exact_digits.hpp"
#include "kernels/exact_round.hpp"

namespace tutti {
namespace {

using detail::ExactCall;
using detail::ExactForm;
using detail::FixedPoint;
using detail::TermsWork;

/// The sums of weighted elements, and after them, a field each, the sums of the weights that count.
class WeightedSums final : public detail::ExactWork {
 public:
  WeightedSums(const TermsWork& terms, std::size_t fields)
      : ExactWork(DatatypeKind::float64, terms.sums() + fields),
        terms_(terms),
        fields_(fields),
        totals_(terms.sums() + fields) {}

  void fill(std::size_t i, FixedPoint& sum) const override {
    if (i < terms_.sums()) return terms_.fill(i, sum);
    const kernels::exact::Terms field = terms_.terms_of(i - terms_.sums());
    kernels::exact::Terms weights{.values = field.factors, .mask = field.mask, .count = field.count};
    if (weights.values.buffer != nullptr) return kernels::exact::add_terms(sum, weights);
    if (weights.mask.buffer == nullptr) return kernels::exact::add(sum, static_cast<double>(field.count));
    const double one = 1;
    const ConstBuffer ones(&one, 1, Layout::strided(std::array{field.count}, std::array{std::ptrdiff_t{0}}));
    weights.values.buffer = &ones;
    kernels::exact::add_terms(sum, weights);
  }
  void finish(std::size_t i, FixedPoint& total) override {
    totals_[i] = kernels::exact::rounded(total, kernels::exact::float64_format);
  }
  [[nodiscard]] double* rounded() noexcept override { return totals_.data(); }

  /// The quotient of sum i and the sum of its weights.
  [[nodiscard]] double mean(std::size_t i) const {
    const double mean = totals_[i] / totals_[terms_.sums() + i / (terms_.sums() / fields_)];
    // The sign of a NaN that a division makes depends on the processor.
    return std::isnan(mean) ? std::numeric_limits<double>::quiet_NaN() : mean;
  }

 private:
  const TermsWork& terms_;
  std::size_t fields_;
  std::vector<double> totals_;
};

/// The means of all sums of a call.
std::vector<double> means_of(const Communicator& comm, const TermsWork& terms, std::size_t fields,
                             const Options& options) {
  WeightedSums sums(terms, fields);
  detail::run_exact(comm, sums, options);
  std::vector<double> means(terms.sums());
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = sums.mean(i);
  return means;
}

}  // namespace

void exact_mean(const Communicator& comm, const ExactTerms& terms, Buffer means, const Options& options) {
  const TermsWork work({&comm, "exact_mean", options.memory}, terms, ExactForm::sum, nullptr, means, "means");
  const std::vector<double> found = means_of(comm, work, means.count, options);
  for (std::size_t i = 0; i < found.size(); ++i) kernels::exact::write(means.type.kind(), means.data, i, found[i]);
}

void exact_variance(const Communicator& comm, const ExactTerms& terms, Buffer means, Buffer variances,
                    const Options& options) {
  const ExactCall call{&comm, "exact_variance", options.memory};
  for (const Buffer& result : {means, variances})
    if (result.type.kind() != DatatypeKind::float64)
      call.refuse(ErrorCode::invalid_datatype, "means or variances", "is not of float64");
  call.require(means.count == variances.count, "variances", "has not as many elements as means");
  TermsWork work(call, terms, ExactForm::sum, nullptr, variances, "variances");
  const TermsWork checked(call, terms, ExactForm::sum, nullptr, means, "means");
  const std::vector<double> found = means_of(comm, work, means.count, options);
  work.centre(found.data());
  const std::vector<double> spread = means_of(comm, work, means.count, options);
  for (std::size_t f = 0; f < found.size(); ++f) {
    static_cast<double*>(means.data)[f] = found[f];
    static_cast<double*>(variances.data)[f] = spread[f];
  }
}

}  // namespace tutti
