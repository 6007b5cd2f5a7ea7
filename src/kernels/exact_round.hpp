// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/datatype.hpp>
#include <tutti/detail/fixed_point.hpp>

namespace tutti::kernels::exact {

/// A binary format of floating-point numbers.
struct Format {
  int precision;  ///< bits of a normal number
  int least;      ///< the smallest number is 2^least
  int limit;      ///< all numbers are less than 2^limit
};
inline constexpr Format float64_format{53, -1074, 1024};
/// Of the parts of a complex number, too.
[[nodiscard]] Format format_of(DatatypeKind kind) noexcept;

/// The number nearest to a sum; ties go to the even one, and what is beyond the format's limit becomes an infinity. A
/// NaN is quiet, positive, and has no payload. The sum of no addends is +0, that of addends -0 is -0, and one that
/// cancels is +0. Passes the carries on.
[[nodiscard]] double rounded(detail::FixedPoint& sum, const Format& format) noexcept;

/// The number nearest to the square root of a sum.
[[nodiscard]] double rounded_root(detail::FixedPoint& sum, const Format& format) noexcept;

}  // namespace tutti::kernels::exact
