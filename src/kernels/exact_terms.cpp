// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_terms.hpp"

#include <cmath>

#include "kernels/exact_blocks.hpp"
#include "kernels/exact_load.hpp"

namespace tutti::kernels::exact {
namespace {

/// Products of float64, as what a product is rounded to and the rest. Returns false where the rest is no float64.
bool multiply(const double* x, const double* y, std::size_t count, double* products, double* rests) noexcept {
#ifdef FP_FAST_FMA
  constexpr double tiny = 0x1p-960;
  constexpr double huge = 0x1p1022;
  std::size_t odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    products[i] = x[i] * y[i];
    rests[i] = std::fma(x[i], y[i], -products[i]);
    const double size = std::fabs(products[i]);
    odd += static_cast<std::size_t>(!(size < huge)) |
           (static_cast<std::size_t>(size < tiny) & static_cast<std::size_t>(x[i] != 0) &
            static_cast<std::size_t>(y[i] != 0));
  }
  return odd == 0;
#else
  static_cast<void>(x), static_cast<void>(y), static_cast<void>(products), static_cast<void>(rests);
  return count == 0;
#endif
}

/// Adds the terms run by run.
class TermsAdder {
 public:
  TermsAdder(FixedPoint& sum, const Terms& terms) noexcept : sum_(sum), terms_(terms), values_(sum), rests_(sum) {}

  void add() noexcept {
    for (std::size_t first = 0; first < terms_.count; first += run) add_run(first, std::min(run, terms_.count - first));
  }

 private:
  void add_run(std::size_t first, std::size_t count) noexcept {
    const double* x = load(terms_.values, first, count, values_room_);
    const bool has_factors = terms_.factors.buffer != nullptr;
    const double* y = has_factors ? load(terms_.factors, first, count, factors_room_) : nullptr;
    if (terms_.mask.buffer != nullptr) {
      const std::byte* mask = elements_of(terms_.mask, first, count, mask_room_);
      const std::size_t unit = terms_.mask.buffer->type.size();
      const std::size_t n = select(mask, unit, x, count, values_room_.numbers);
      if (has_factors && select(mask, unit, y, count, factors_room_.numbers) > 0) y = factors_room_.numbers;
      x = values_room_.numbers;
      count = n;
    }
    if (terms_.is_negative || terms_.centre != nullptr) x = changed(x, count);
    if (has_factors)
      add_products(x, y, count);
    else
      values_.add(x, count);
  }

  const double* changed(const double* x, std::size_t count) noexcept {
    double* to = values_room_.numbers;
    for (std::size_t i = 0; i < count; ++i) {
      const double distance = terms_.centre == nullptr ? x[i] : x[i] - *terms_.centre;
      to[i] = terms_.centre == nullptr ? -distance : distance * distance;
    }
    return to;
  }

  void add_products(const double* x, const double* y, std::size_t count) noexcept {
    if (!is_double(terms_.values.buffer->type.kind()) && terms_.centre == nullptr) {
      for (std::size_t i = 0; i < count; ++i) products_[i] = x[i] * y[i];
      values_.add(products_, count);
    } else if (multiply(x, y, count, products_, rest_numbers_)) {
      values_.add(products_, count);
      rests_.add_rests(rest_numbers_, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) add_product(sum_, x[i], y[i]);
    }
  }

  FixedPoint& sum_;
  const Terms& terms_;
  BlockAdder values_;
  BlockAdder rests_;
  Room values_room_;
  Room factors_room_;
  Room mask_room_;
  double products_[run];
  double rest_numbers_[run];
};

/// Whether the terms are the elements themselves, where they are.
bool is_plain(const Terms& terms) noexcept {
  return !terms.values.buffer->layout && terms.factors.buffer == nullptr && terms.mask.buffer == nullptr &&
         !terms.is_negative && terms.centre == nullptr;
}

template <typename T>
void add_plain(FixedPoint& sum, const Terms& terms) noexcept {
  BlockAdder(sum).add(static_cast<const T*>(terms.values.buffer->data) + terms.values.first, terms.count);
}

}  // namespace

void add_terms(FixedPoint& sum, const Terms& terms) noexcept {
  const DatatypeKind kind = terms.values.buffer->type.kind();
  if (kind == DatatypeKind::float64 && is_plain(terms)) return add_plain<double>(sum, terms);
  if (kind == DatatypeKind::float32 && is_plain(terms)) return add_plain<float>(sum, terms);
  TermsAdder(sum, terms).add();
}

bool is_summable(DatatypeKind kind) noexcept {
  return kind >= DatatypeKind::float16 && kind <= DatatypeKind::complex128;
}

bool is_mask(DatatypeKind kind) noexcept {
  return kind <= DatatypeKind::uint64 || (kind >= DatatypeKind::logical8 && kind <= DatatypeKind::logical64);
}

void write(DatatypeKind kind, void* numbers, std::size_t index, double value) noexcept {
  switch (kind) {
    case DatatypeKind::float32:
    case DatatypeKind::complex64:
      static_cast<float*>(numbers)[index] = static_cast<float>(value);
      return;
    case DatatypeKind::float16:
      static_cast<float16_t*>(numbers)[index] = float16_t(static_cast<float>(value));
      return;
    case DatatypeKind::bfloat16:
      static_cast<bfloat16_t*>(numbers)[index] = bfloat16_t(static_cast<float>(value));
      return;
    default:
      static_cast<double*>(numbers)[index] = value;
  }
}

}  // namespace tutti::kernels::exact
