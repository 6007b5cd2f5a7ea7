// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/error.hpp>
#include <tutti/exact.hpp>

#include "collectives/exact/terms.hpp"
#include "kernels/exact_digits.hpp"
#include "kernels/exact_round.hpp"

namespace tutti {
namespace {

/// The sums that a caller has filled.
class GivenSums final : public detail::ExactWork {
 public:
  explicit GivenSums(std::span<ExactSum> sums) : ExactWork(DatatypeKind::float64, sums.size()), given_(sums) {}

  void fill(std::size_t i, detail::FixedPoint& sum) const override { kernels::exact::add(sum, given_[i].digits()); }
  void finish(std::size_t i, detail::FixedPoint& total) override { given_[i].digits() = total; }

 private:
  std::span<ExactSum> given_;
};

}  // namespace

void ExactSum::add(const ExactTerms& terms) {
  double unused = 0;
  const detail::TermsWork work({nullptr, "ExactSum::add", MemoryKind::detect}, terms, detail::ExactForm::sum, nullptr,
                               Buffer(&unused, 1), "sum");
  work.fill(0, digits_);
}

void ExactSum::add(double value) noexcept { kernels::exact::add(digits_, value); }

void ExactSum::add_product(double x, double y) noexcept { kernels::exact::add_product(digits_, x, y); }

void ExactSum::add(const ExactSum& other) noexcept {
  detail::FixedPoint copy = other.digits_;
  kernels::exact::add(digits_, copy);
}

double ExactSum::rounded(DatatypeKind kind) const {
  if (!kernels::exact::is_summable(kind) || kernels::exact::is_complex(kind))
    throw Error(ErrorCode::invalid_datatype, std::string("ExactSum::rounded: argument kind is ") + datatype_name(kind) +
                                                 "; pass float64, float32, float16 or bfloat16");
  detail::FixedPoint copy = digits_;
  return kernels::exact::rounded(copy, kernels::exact::format_of(kind));
}

void exact_allreduce(const Communicator& comm, std::span<ExactSum> sums, const Options& options) {
  GivenSums work(sums);
  detail::run_exact(comm, work, options);
}

}  // namespace tutti
