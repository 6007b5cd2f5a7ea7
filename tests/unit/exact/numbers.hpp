// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tutti::test {

using Random = std::mt19937_64;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Any finite number, all exponents alike.
inline double any_number(Random& random) {
  double x = 0;
  do x = std::bit_cast<double>(random());
  while (!std::isfinite(x));
  return x;
}
/// A number of 2^low to 2^high.
inline double number_between(Random& random, int low, int high) {
  const double size = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                 std::uniform_int_distribution<int>(low, high)(random));
  return random() % 2 == 0 ? size : -size;
}

/// Arrays of a kind of difficulty each, by the number of the case.
inline std::vector<double> difficult_numbers(Random& random, std::size_t which, std::size_t count) {
  std::vector<double> x(count);
  const int middle = std::uniform_int_distribution<int>(-1000, 1000)(random);
  for (double& value : x) switch (which % 8) {
      case 0:
        value = any_number(random);
        break;
      case 1:  // ties and what decides them
        value = std::ldexp(1.0, std::clamp(middle, -900, 900) + (random() % 3 == 0   ? 0
                                                                 : random() % 2 == 0 ? -53
                                                                                     : -120));
        break;
      case 2:  // subnormal numbers
        value = std::bit_cast<double>(random() & 0x801fffffffffffffU);
        break;
      case 3:  // close to the largest
        value = number_between(random, 1020, 1023);
        break;
      case 4:
        value = static_cast<double>(static_cast<float>(number_between(random, -140, 120)));
        break;
      case 5:
        value = number_between(random, -30, 30);
        break;
      case 6:
        value = random() % 4 == 0 ? (random() % 2 == 0 ? 0.0 : -0.0) : number_between(random, -3, 3);
        break;
      default:
        value = number_between(random, std::clamp(middle, -1000, 900), std::clamp(middle, -1000, 900) + 60);
    }
  if (random() % 3 == 0)  // cancels, but for one
    for (std::size_t i = 0; i + 1 < count; i += 2) x[i + 1] = -x[i];
  std::shuffle(x.begin(), x.end(), random);
  return x;
}

}  // namespace tutti::test
