// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/detail/launch/kernel.hpp>

namespace tutti::miniapps::device {

using kernels::device::StreamHandle;

// Types of cuBLAS 11 and later, so that no header of it is needed; cublas_check.cpp compares them with the header.
using CublasHandle = void*;
enum CublasStatus : int { cublas_success = 0 };
enum CublasOperation : int { cublas_plain = 0, cublas_transposed = 1 };
enum CublasData : int { cublas_float32 = 0, cublas_bfloat16 = 14 };
enum CublasCompute : int { cublas_compute_32f = 68, cublas_compute_32f_fast_tf32 = 77 };
constexpr int cublas_default_algorithm = -1;

using CublasLtHandle = void*;
using CublasLtLayout = void*;
using CublasLtProduct = void*;
using CublasLtLimits = void*;
enum CublasLtAttribute : int {
  cublas_lt_operation_of_a = 3,  ///< a CublasOperation
  cublas_lt_operation_of_b = 4,
  cublas_lt_epilogue = 7,  ///< a CublasLtEpilogue
  cublas_lt_bias = 8,      ///< a pointer to values of the result's type
};
enum CublasLtEpilogue : std::uint32_t {
  cublas_lt_nothing = 1,
  cublas_lt_relu = 2,
  cublas_lt_add_bias = 4,
  cublas_lt_add_bias_relu = 6,
};
enum CublasLtLimit : int {
  cublas_lt_most_workspace = 1,  ///< a std::uint64_t
  cublas_lt_alignment_of_a = 5,  ///< a std::uint32_t, as the next three
  cublas_lt_alignment_of_b = 6,
  cublas_lt_alignment_of_c = 7,
  cublas_lt_alignment_of_d = 8,
};
struct CublasLtAlgorithm {
  std::uint64_t data[8];
};
struct CublasLtChoice {
  CublasLtAlgorithm algorithm;
  std::size_t workspace;
  CublasStatus status;
  float waves;
  int reserved[4];
};

/// Every cublasLt function that is used, or null everywhere; cublas_lt_symbols.def is the one list.
struct CublasLtTable {
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) CublasStatus(*member) arguments = nullptr;
#include "common/device/cublas_lt_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
};

/// Every cuBLAS function that is used: filled at run time by dlsym, or by tests. cublas_symbols.def is the one list.
struct CublasTable {
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) CublasStatus(*member) arguments = nullptr;
#include "common/device/cublas_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
  CublasLtTable lt;  ///< of the cublasLt that this cuBLAS is linked with
};

/// The table of this process, loaded at the first call: from the library that TUTTI_CUBLAS_LIBRARY names, else from
/// libcublas.so of version 13, 12 or 11. Throws Error(not_supported) with the reason.
[[nodiscard]] const CublasTable& cublas_table();

/// Tests only: puts another table in its place (null: the loaded one again).
void replace_cublas_table(const CublasTable* other) noexcept;

}  // namespace tutti::miniapps::device
