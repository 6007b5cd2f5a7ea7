// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tutti::commbench {

/// What a rank computes, on the host and by one thread, while a call is under way.
enum class Beside : std::uint8_t {
  nothing,
  gemm,       ///< a product of square matrices in float32 by the BLAS; size: rows
  embedding,  ///< bags of random rows of a table, by the library's kernel; size: bags
  copy,       ///< a copy of memory; size: bytes
};

[[nodiscard]] const char* beside_name(Beside beside);

/// Why there is no such computation in this build, and the remedy; empty where there is.
[[nodiscard]] std::string why_no_computation(Beside beside);

/// The sizes from 1 to this one.
[[nodiscard]] std::size_t most_beside_size(Beside beside);

/// A computation with its memory, in parts between which a program may do something else. Local.
class Computation {
 public:
  Computation() = default;
  virtual ~Computation() = default;
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  virtual void resize(std::size_t size) = 0;
  /// The part from step `part` to `part + 1` of so many equal steps through the size.
  virtual void run(int part, int parts) = 0;
  /// Its time grows as the size to this power.
  [[nodiscard]] virtual double power() const { return 1; }
};

/// Throws tutti::Error (out_of_memory). Not for Beside::nothing.
[[nodiscard]] std::unique_ptr<Computation> make_computation(Beside beside);

/// The size whose time is to that of `size` as `wanted` seconds are to `seconds`, in steps of at most 64 times the
/// time, from 1 to `most`.
[[nodiscard]] std::size_t next_size(std::size_t size, double seconds, double wanted, double power, std::size_t most);

}  // namespace tutti::commbench
