// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/detail/fixed_point.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>
#include <type_traits>
#include <utility>

/// Sums of distributed arrays that do not depend on the number of ranks. The elements are added without rounding, and
/// the sum is rounded once, to nearest, ties to even: so it is the same, to the bit, for every number of ranks,
/// distribution, order, algorithm and number of threads.
///
/// For all functions of this header:
/// Types: float32, float64, float16, bfloat16, complex64 and complex128, whose parts are summed apart.
/// Special values, equal on all ranks: a NaN, or infinities of both signs, give a quiet NaN without payload; otherwise
/// an infinity gives itself. Only the rounded sum overflows, to an infinity, and never a partial sum. A sum that
/// cancels, or has no elements, is +0; one of -0 alone is -0. Subnormal numbers count as they are.
/// Memory: host. Error(not_supported) for device memory.
/// Source of the method: Kulisch's long accumulator; in front of it, bins of integers as in Demmel and Nguyen,
/// "Parallel reproducible summation", IEEE Transactions on Computers 64 (2015).
namespace tutti {

/// What a rank contributes to sums: elements, perhaps with weights, and perhaps only those that a mask selects. Refers
/// to the caller's memory. A buffer may have a layout (strides); F fields lie one after the other, so that the rank has
/// n = count / F elements of each. F is equal on all ranks, n need not be, and may be 0.
struct ExactTerms {
  ConstBuffer values{};
  /// Real factors of the precision of the values: one an element, or n that all fields share.
  std::optional<ConstBuffer> weights{};
  /// Logicals or integers: one an element, or n that all fields share. An element whose mask is zero is not in the sum,
  /// whatever its value.
  std::optional<ConstBuffer> mask{};

  ExactTerms() = default;
  template <typename T>
  requires(!std::same_as<std::remove_cvref_t<T>, ExactTerms> && std::constructible_from<ConstBuffer, const T&>)
      ExactTerms(const T& elements)  // NOLINT(google-explicit-constructor): a buffer is the terms of its sum
      : values(elements) {}
  /// The same terms with weights, or with a mask.
  [[nodiscard]] ExactTerms weighted(ConstBuffer factors) const {
    ExactTerms result = *this;
    result.weights = std::move(factors);
    return result;
  }
  [[nodiscard]] ExactTerms masked(ConstBuffer selection) const {
    ExactTerms result = *this;
    result.mask = std::move(selection);
    return result;
  }
};

/// A sum that is not yet rounded: filled piece by piece, combined with others, sent as an element of bytes. 1120 bytes;
/// a value that is copied. Different objects may be used by different threads at the same time. Local, never blocks.
class TUTTI_EXPORT ExactSum {
 public:
  /// The sum of no elements.
  ExactSum() noexcept = default;

  /// Adds elements, of real type and one field; with weights, their products. Errors: invalid_argument,
  /// invalid_datatype, not_supported.
  void add(const ExactTerms& terms);
  void add(double value) noexcept;
  /// Adds x * y, exactly.
  void add_product(double x, double y) noexcept;
  /// Adds what another sum holds.
  void add(const ExactSum& other) noexcept;
  ExactSum& operator+=(const ExactSum& other) noexcept {
    add(other);
    return *this;
  }

  /// The sum, rounded to a real type: float64, float32, float16 or bfloat16. Error(invalid_datatype) for others.
  [[nodiscard]] double rounded(DatatypeKind kind = DatatypeKind::float64) const;

  [[nodiscard]] detail::FixedPoint& digits() noexcept { return digits_; }

 private:
  detail::FixedPoint digits_{};
};

template <>
struct DatatypeOf<ExactSum> : BytesOf<ExactSum> {};

/// sums[f] = the sum of the elements of field f on all ranks, rounded to the type of `sums`; every rank gets it.
/// Collective over `comm`. Blocking.
/// Shape: `sums` has an element a field and is contiguous; complex if the values are.
/// Equal on all ranks: the types, the number of fields, and the options. All ranks pass weights, or none does.
/// Counterpart: MPI_Allreduce with MPI_SUM on local sums, which have been rounded before; shr_reprosum_calc.
TUTTI_EXPORT void exact_sum(const Communicator& comm, const ExactTerms& terms, Buffer sums,
                            const Options& options = {});

/// Nonblocking form: takes the elements before it returns; `sums` must stay valid and untouched until the request is
/// done. One message; matched as other collectives are.
[[nodiscard]] TUTTI_EXPORT Request iexact_sum(const Communicator& comm, const ExactTerms& terms, Buffer sums,
                                              const Options& options = {});

/// Persistent form: binds the buffers; each start() takes the elements and sums them again.
[[nodiscard]] TUTTI_EXPORT Request exact_sum_init(const Communicator& comm, const ExactTerms& terms, Buffer sums,
                                                  const Options& options = {});

/// dots[f] = the sum of conj(x[i]) * y[i]. `y` has the type and the number of elements of x, which has no weights. The
/// products are exact, too. Otherwise as exact_sum. Counterpart: BLAS dot, dotc.
TUTTI_EXPORT void exact_dot(const Communicator& comm, const ExactTerms& x, ConstBuffer y, Buffer dots,
                            const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request iexact_dot(const Communicator& comm, const ExactTerms& x, ConstBuffer y, Buffer dots,
                                              const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request exact_dot_init(const Communicator& comm, const ExactTerms& x, ConstBuffer y,
                                                  Buffer dots, const Options& options = {});

/// norms[f] = the square root of the exact sum of |x|^2, rounded once: neither squares nor their sum overflow.
/// `norms` is of real type; x has no weights. Otherwise as exact_sum. Counterpart: BLAS nrm2.
TUTTI_EXPORT void exact_norm2(const Communicator& comm, const ExactTerms& x, Buffer norms, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request iexact_norm2(const Communicator& comm, const ExactTerms& x, Buffer norms,
                                                const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request exact_norm2_init(const Communicator& comm, const ExactTerms& x, Buffer norms,
                                                    const Options& options = {});

/// means[f] = the weighted sum divided by the sum of the weights, or by the number of elements that the mask selects:
/// both rounded to float64, and divided in float64. NaN where there are none. Blocking. Otherwise as exact_sum.
TUTTI_EXPORT void exact_mean(const Communicator& comm, const ExactTerms& terms, Buffer means,
                             const Options& options = {});

/// variances[f] = the mean, as above, of (x - mean)^2, whose difference and square are rounded to float64: the
/// population's variance, by two passes. Gives the means too. Both results are of float64, and the values are of real
/// type. Blocking. Otherwise as exact_mean.
TUTTI_EXPORT void exact_variance(const Communicator& comm, const ExactTerms& terms, Buffer means, Buffer variances,
                                 const Options& options = {});

/// Replaces each sum by that of all ranks. All ranks pass the same number of sums. Collective over `comm`. Blocking.
/// Counterpart: as exact_sum.
TUTTI_EXPORT void exact_allreduce(const Communicator& comm, std::span<ExactSum> sums, const Options& options = {});

/// The smallest, or the largest, element of all ranks and its index in the distributed array. `first_index` is the
/// index of this rank's first element. Of equal elements, -0 and +0 among them, the one with the lowest index; of NaN,
/// which win, the same. Without elements, or if the mask selects none: NaN and -1. Real types, one field, no weights.
/// Collective over `comm`. Blocking. Counterpart: MPI_MINLOC, MPI_MAXLOC.
[[nodiscard]] TUTTI_EXPORT Float64Int64 exact_minloc(const Communicator& comm, const ExactTerms& terms,
                                                     std::int64_t first_index, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Float64Int64 exact_maxloc(const Communicator& comm, const ExactTerms& terms,
                                                     std::int64_t first_index, const Options& options = {});

/// The sum, or the dot product, of one field: `const double total = exact_sum(comm, x)`.
template <std::ranges::contiguous_range R>
[[nodiscard]] auto exact_sum(const Communicator& comm, const R& elements, const Options& options = {}) {
  std::ranges::range_value_t<R> result{};
  exact_sum(comm, ExactTerms(elements), Buffer(&result, 1), options);
  return result;
}
template <std::ranges::contiguous_range R>
[[nodiscard]] auto exact_dot(const Communicator& comm, const R& x, const R& y, const Options& options = {}) {
  std::ranges::range_value_t<R> result{};
  exact_dot(comm, ExactTerms(x), ConstBuffer(y), Buffer(&result, 1), options);
  return result;
}

}  // namespace tutti
