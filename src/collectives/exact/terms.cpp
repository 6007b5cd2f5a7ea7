// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/terms.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

#include "collectives/call.hpp"
#include "core/mpi_call.hpp"
#include "kernels/exact_round.hpp"

namespace tutti::detail {
namespace {

/// Numbers that are quickly added as they are.
constexpr std::size_t few = 8;

/// The type of the parts of the elements.
DatatypeKind part_kind(DatatypeKind kind) {
  if (!kernels::exact::is_complex(kind)) return kind;
  return kernels::exact::is_double(kind) ? DatatypeKind::float64 : DatatypeKind::float32;
}

/// The real sums of one field.
std::size_t parts_of(ExactForm form, DatatypeKind kind) {
  return form != ExactForm::squares && kernels::exact::is_complex(kind) ? 2 : 1;
}

/// Checks a buffer of any type.
template <typename AnyBuffer>
void check_memory(const ExactCall& call, const AnyBuffer& buffer, std::string_view name) {
  call.require(!buffer.is_in_place, name, "is in_place; pass the elements");
  call.require(buffer.data != nullptr || buffer.count == 0, name,
               "is a null pointer but has elements; pass the buffer's address");
  call.require(fits_address_space(buffer.count, buffer.type), name,
               "is larger than the address space; pass the count in elements");
  if (buffer.count > 0 && is_of_device(buffer.memory, call.memory, buffer.data))
    call.refuse(ErrorCode::not_supported, name, "is in device memory; copy it to host memory");
}

void check_type(const ExactCall& call, DatatypeKind kind, std::string_view name) {
  if (kernels::exact::is_summable(kind)) return;
  call.refuse(ErrorCode::invalid_datatype, name,
              fmt::format("has datatype {}; pass float32, float64, float16, bfloat16, complex64 or complex128",
                          datatype_name(kind)));
}

}  // namespace

void ExactCall::refuse(ErrorCode code, std::string_view argument, std::string_view problem) const {
  if (comm != nullptr) comm->state()->refuse(flight::call_of(Operation::allreduce));
  const std::string where = comm != nullptr ? ", " + comm->state()->describe() : "";
  throw Error(code, fmt::format("{}{}{}: argument {} {}", comm != nullptr ? "" : error_prefix(), name, where, argument,
                                problem));
}

TermsWork::TermsWork(const ExactCall& call, const ExactTerms& terms, ExactForm form, const ConstBuffer* y,
                     const Buffer& results, std::string_view results_name)
    : ExactWork(terms.values.type.kind(), results.count * parts_of(form, terms.values.type.kind())),
      values_(terms.values),
      factors_(terms.weights),
      mask_(terms.mask),
      form_(form),
      results_(results),
      fields_(results.count) {
  check_memory(call, values_, "values");
  check_type(call, values_.type.kind(), "values");
  check_results(call, results_name);
  if (form != ExactForm::sum) call.require(!factors_, "weights", "is given; only sums have weights");
  count_ = fields_ == 0 ? 0 : values_.count / fields_;
  if (count_ * fields_ != values_.count)
    call.refuse(
        ErrorCode::invalid_argument, "values",
        fmt::format("has {} elements, which do not divide by the number of fields, {}", values_.count, fields_));
  if (mask_) check_mask(call);
  if (factors_) check_factors(call, "weights", part_kind(kind()), true);
  if (form == ExactForm::squares) factors_ = values_;
  if (y == nullptr) return;
  factors_ = *y;
  check_factors(call, "y", kind(), false);
}

void TermsWork::check_count(const ExactCall& call, const ConstBuffer& buffer, const char* name, bool may_share) const {
  check_memory(call, buffer, name);
  if (buffer.count == values_.count || (may_share && buffer.count == count_)) return;
  call.refuse(ErrorCode::invalid_argument, name,
              fmt::format("has {} elements; pass {}, one a value{}", buffer.count, values_.count,
                          may_share ? fmt::format(", or {} that all fields share", count_) : ""));
}

void TermsWork::check_factors(const ExactCall& call, const char* name, DatatypeKind wanted, bool may_share) const {
  check_count(call, *factors_, name, may_share);
  if (factors_->type.kind() == wanted) return;
  call.refuse(ErrorCode::invalid_datatype, name,
              fmt::format("has datatype {}; pass {}", datatype_name(factors_->type.kind()), datatype_name(wanted)));
}

void TermsWork::check_mask(const ExactCall& call) const {
  check_count(call, *mask_, "mask", true);
  if (kernels::exact::is_mask(mask_->type.kind())) return;
  call.refuse(ErrorCode::invalid_datatype, "mask",
              fmt::format("has datatype {}; pass logicals or integers", datatype_name(mask_->type.kind())));
}

void TermsWork::check_results(const ExactCall& call, std::string_view name) const {
  check_memory(call, results_, name);
  call.require(!results_.layout, name, "has a layout; pass contiguous memory");
  const DatatypeKind kind = results_.type.kind();
  check_type(call, kind, name);
  if (kernels::exact::is_complex(kind) != (parts() == 2))
    call.refuse(ErrorCode::invalid_datatype, name,
                fmt::format("has datatype {}; the results are {}", datatype_name(kind),
                            parts() == 2 ? "complex" : "of real type"));
}

std::size_t TermsWork::parts() const noexcept { return parts_of(form_, kind()); }

kernels::exact::Terms TermsWork::terms_of(std::size_t field) const noexcept {
  const auto operand = [&](const ConstBuffer& buffer) {
    return kernels::exact::Operand{&buffer, buffer.count == values_.count ? field * count_ : 0, false};
  };
  kernels::exact::Terms terms{.values = operand(values_), .count = count_};
  if (factors_) terms.factors = operand(*factors_);
  if (mask_) terms.mask = operand(*mask_);
  if (centres_ != nullptr) terms.centre = centres_ + field;
  return terms;
}

void TermsWork::fill(std::size_t i, FixedPoint& sum) const {
  const bool is_imaginary = i % parts() == 1;
  kernels::exact::Terms terms = terms_of(i / parts());
  const auto add = [&](bool of_values, bool of_factors, bool is_negative) {
    terms.values.is_imaginary = of_values;
    terms.factors.is_imaginary = of_factors;
    terms.is_negative = is_negative;
    kernels::exact::add_terms(sum, terms);
  };
  if (form_ == ExactForm::sum || !kernels::exact::is_complex(kind())) return add(is_imaginary, false, false);
  add(false, is_imaginary, false);
  add(true, !is_imaginary && form_ != ExactForm::sum, is_imaginary);
}

bool TermsWork::is_plain() const noexcept {
  return kind() == DatatypeKind::float64 && !values_.layout && !factors_ && !mask_ && centres_ == nullptr;
}

bool TermsWork::fill(std::size_t i, kernels::exact::Expansion& sum) const {
  return is_plain() && count_ <= few &&
         kernels::exact::add_few(sum, static_cast<const double*>(values_.data) + i * count_, count_);
}

const double* TermsWork::numbers() const noexcept {
  return is_plain() && count_ == 1 ? static_cast<const double*>(values_.data) : nullptr;
}

void TermsWork::finish(std::size_t i, FixedPoint& total) {
  const kernels::exact::Format format = kernels::exact::format_of(results_.type.kind());
  const double result = form_ == ExactForm::squares ? kernels::exact::rounded_root(total, format)
                                                    : kernels::exact::rounded(total, format);
  kernels::exact::write(results_.type.kind(), results_.data, i, result);
}

double* TermsWork::rounded() noexcept {
  const bool is_enough = form_ != ExactForm::squares && kernels::exact::is_double(results_.type.kind());
  return is_enough ? static_cast<double*>(results_.data) : nullptr;
}

}  // namespace tutti::detail
