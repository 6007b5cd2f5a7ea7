// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "stream.hpp"

namespace tutti::miniapps::device {

// Types of cuBLAS 11 and later, so that no header of it is needed; cublas_check.cpp compares them with the header.
using CublasHandle = void*;
enum CublasStatus : int { cublas_success = 0 };
enum CublasOperation : int { cublas_plain = 0, cublas_transposed = 1 };
enum CublasData : int { cublas_float32 = 0, cublas_bfloat16 = 14 };
enum CublasCompute : int { cublas_compute_32f = 68, cublas_compute_32f_fast_tf32 = 77 };
constexpr int cublas_default_algorithm = -1;

/// Every cuBLAS function that is used: filled at run time by dlsym, or by tests. cublas_symbols.def is the one list.
struct CublasTable {
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) CublasStatus(*member) arguments = nullptr;
#include "common/device/cublas_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
};

/// The table of this process, loaded at the first call: from the library that TUTTI_CUBLAS_LIBRARY names, else from
/// libcublas.so of version 13, 12 or 11. Throws Error(not_supported) with the reason.
[[nodiscard]] const CublasTable& cublas_table();

/// Tests only: puts another table in its place (null: the loaded one again).
void replace_cublas_table(const CublasTable* other) noexcept;

}  // namespace tutti::miniapps::device
