// SPDX-License-Identifier: BSD-3-Clause
// Compiled where cuBLAS' header is there: the types and values of cublas_table.hpp are those of the header.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstddef>
#include <type_traits>

#include "cublas_table.hpp"

namespace tutti::miniapps::device {

static_assert(int{cublas_success} == CUBLAS_STATUS_SUCCESS);
static_assert(int{cublas_plain} == CUBLAS_OP_N && int{cublas_transposed} == CUBLAS_OP_T);
static_assert(int{cublas_float32} == CUDA_R_32F && int{cublas_bfloat16} == CUDA_R_16BF);
static_assert(int{cublas_compute_32f} == CUBLAS_COMPUTE_32F);
static_assert(int{cublas_compute_32f_fast_tf32} == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(cublas_default_algorithm == CUBLAS_GEMM_DEFAULT);
static_assert(int{cublas_lt_operation_of_a} == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(int{cublas_lt_operation_of_b} == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int{cublas_lt_epilogue} == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(int{cublas_lt_bias} == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(std::uint32_t{cublas_lt_nothing} == CUBLASLT_EPILOGUE_DEFAULT);
static_assert(std::uint32_t{cublas_lt_relu} == CUBLASLT_EPILOGUE_RELU);
static_assert(std::uint32_t{cublas_lt_add_bias} == CUBLASLT_EPILOGUE_BIAS);
static_assert(std::uint32_t{cublas_lt_add_bias_relu} == CUBLASLT_EPILOGUE_RELU_BIAS);
static_assert(int{cublas_lt_most_workspace} == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(int{cublas_lt_alignment_of_a} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(int{cublas_lt_alignment_of_b} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(int{cublas_lt_alignment_of_c} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(int{cublas_lt_alignment_of_d} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(CublasLtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(CublasLtChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(CublasLtChoice, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(CublasLtChoice, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasLtChoice, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));

namespace {

// An enumeration is passed as the int that it is kept in, a handle as a pointer.
template <typename T>
constexpr bool passed_as_int = std::is_enum_v<T> && sizeof(T) == sizeof(int);
template <typename T>
constexpr bool passed_as_pointer = std::is_pointer_v<T> && sizeof(T) == sizeof(void*);

template <typename Ours, typename Theirs>
constexpr bool alike = std::is_same_v<Ours, Theirs> || (passed_as_pointer<Ours> && passed_as_pointer<Theirs>) ||
                       ((passed_as_int<Ours> || std::is_same_v<Ours, int>)&&(passed_as_int<Theirs> ||
                                                                             std::is_same_v<Theirs, int>));

template <typename Ours, typename Theirs>
struct SameCall;
template <typename... Ours, typename... Theirs>
struct SameCall<CublasStatus (*)(Ours...), cublasStatus_t (*)(Theirs...)> {
  static_assert(sizeof...(Ours) == sizeof...(Theirs));
  static constexpr bool value = (alike<Ours, Theirs> && ...);
};

// The header's types; of cublasGemmEx it has two in C++.
using Header_create = decltype(&cublasCreate_v2);
using Header_destroy = decltype(&cublasDestroy_v2);
using Header_get_version = decltype(&cublasGetVersion_v2);
using Header_set_stream = decltype(&cublasSetStream_v2);
using Header_set_workspace = decltype(&cublasSetWorkspace_v2);
using Header_gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                       const void*, cudaDataType, int, const void*, cudaDataType, int, const void*,
                                       void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
static_assert(static_cast<Header_gemm>(&cublasGemmEx) != nullptr);

#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) \
  static_assert(SameCall<decltype(CublasTable::member), Header_##member>::value);
#include "common/device/cublas_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION

#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) \
  static_assert(SameCall<decltype(CublasLtTable::member), decltype(&symbol)>::value);
#include "common/device/cublas_lt_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION

}  // namespace

}  // namespace tutti::miniapps::device
