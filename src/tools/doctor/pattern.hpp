// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/calls.hpp"

/// Data whose results are known exactly, for tests of paths.
namespace tutti::tools::doctor {

using detail::flight::Call;

/// The calls that are tested. Roots are rank 0; sendrecv goes around: to the next rank, from the one before.
inline constexpr std::array tested_calls = {Call::allreduce, Call::bcast, Call::alltoall, Call::allgather,
                                            Call::sendrecv};

/// One of them on so many ranks. `bytes`: of the vector (allreduce, of float32, and bcast), else of one block.
struct Trial {
  Call call = Call::allreduce;
  std::size_t bytes = 0;
  int rank = 0;
  int ranks = 1;
};

[[nodiscard]] std::size_t input_bytes(const Trial& trial);
[[nodiscard]] std::size_t output_bytes(const Trial& trial);

/// What the rank gives.
[[nodiscard]] std::vector<std::byte> input_of(const Trial& trial);
/// The contents of its output before the call: what a root of bcast gives, else values that no result has.
[[nodiscard]] std::vector<std::byte> output_before(const Trial& trial);
/// The contents of its output after the call.
[[nodiscard]] std::vector<std::byte> output_after(const Trial& trial);
/// The first difference in words, "byte 17 of 4096 is 3 instead of 5"; empty if there is none.
[[nodiscard]] std::string difference(std::span<const std::byte> found, std::span<const std::byte> expected);

}  // namespace tutti::tools::doctor
