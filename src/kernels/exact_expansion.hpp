// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <tutti/detail/fixed_point.hpp>

/// The short form in which a rank gives its sum to the others.
namespace tutti::kernels::exact {

/// A sum as that of three float64, the largest first: 159 bits. A sum without addends is -0, -0; one of addends -0 is
/// -0, +0; what is not finite is in the first part. A sum that needs more bits is a misfit.
struct Expansion {
  std::array<double, 3> parts{-0.0, -0.0, 0.0};
};
[[nodiscard]] bool is_misfit(const Expansion& sum) noexcept;

/// The short form of a sum, or a misfit.
[[nodiscard]] Expansion expansion_of(const detail::FixedPoint& sum) noexcept;
/// The same of the sum of a few numbers. Returns false if it takes a detail::FixedPoint to add them.
[[nodiscard]] bool add_few(Expansion& sum, const double* values, std::size_t count) noexcept;
/// Adds a sum that is no misfit.
void add(detail::FixedPoint& sum, const Expansion& other) noexcept;

/// Rounds the sum of several to float64, as rounded() does. Returns false if it takes a detail::FixedPoint. They are
/// `stride` apart.
[[nodiscard]] bool round_few(const Expansion* sums, std::size_t count, std::size_t stride, double& result) noexcept;

}  // namespace tutti::kernels::exact
