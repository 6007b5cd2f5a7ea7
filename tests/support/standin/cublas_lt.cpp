// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for cublasLt: products with an epilogue. See Cublas.
#include <bit>
#include <cstring>

#include "support/standin/cublas_state.hpp"

namespace tutti::standin::cublas {

namespace {

constexpr std::uint64_t workspace_needed = std::uint64_t{1} << 20U;

struct LtHandle {
  bool is_alive = true;
};

struct Layout {
  CublasData type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t stride;
  bool operator==(const Layout&) const = default;
};

struct Description {
  CublasCompute compute;
  CublasOperation of_a = cublas_plain;
  CublasOperation of_b = cublas_plain;
  CublasLtEpilogue epilogue = cublas_lt_nothing;
  const void* bias = nullptr;
};

struct Limits {
  std::uint64_t workspace = 0;
  std::uint32_t alignments[4] = {256, 256, 256, 256};  ///< of a, b, c, d
};

template <typename T>
T& as(void* object) {
  return *static_cast<T*>(object);
}

template <typename T>
CublasStatus destroy(void* object) {
  delete static_cast<T*>(object);
  --process().handles;
  return cublas_success;
}

CublasStatus create(CublasLtHandle* handle) {
  *handle = new LtHandle;
  ++process().handles;
  return cublas_success;
}

CublasStatus create_layout(CublasLtLayout* layout, CublasData type, std::uint64_t rows, std::uint64_t columns,
                           std::int64_t stride) {
  if (!process().options.describes_lt) return not_supported;
  if (rows == 0 || columns == 0 || stride < static_cast<std::int64_t>(rows)) return invalid_value;
  *layout = new Layout{type, rows, columns, static_cast<std::uint64_t>(stride)};
  ++process().handles;
  return cublas_success;
}

CublasStatus create_product(CublasLtProduct* product, CublasCompute compute, CublasData factor) {
  if (factor != cublas_float32) return not_supported;
  *product = new Description{.compute = compute};
  ++process().handles;
  return cublas_success;
}

template <typename Value>
CublasStatus take(Value& to, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(Value)) return invalid_value;
  std::memcpy(&to, value, sizeof(Value));
  return cublas_success;
}

CublasStatus set_product(CublasLtProduct product, CublasLtAttribute attribute, const void* value, std::size_t bytes) {
  auto& description = as<Description>(product);
  switch (attribute) {
    case cublas_lt_operation_of_a:
      return take(description.of_a, value, bytes);
    case cublas_lt_operation_of_b:
      return take(description.of_b, value, bytes);
    case cublas_lt_epilogue:
      return take(description.epilogue, value, bytes);
    case cublas_lt_bias:
      return take(description.bias, value, bytes);
  }
  return invalid_value;
}

CublasStatus create_limits(CublasLtLimits* limits) {
  *limits = new Limits;
  ++process().handles;
  return cublas_success;
}

CublasStatus set_limit(CublasLtLimits limits, CublasLtLimit limit, const void* value, std::size_t bytes) {
  auto& all = as<Limits>(limits);
  if (limit == cublas_lt_most_workspace) return take(all.workspace, value, bytes);
  const auto i = static_cast<std::size_t>(limit) - cublas_lt_alignment_of_a;
  return i < 4 ? take(all.alignments[i], value, bytes) : invalid_value;
}

/// What both calls are given.
struct Operands {
  const Layout& a;
  const Layout& b;
  const Layout& c;
  const Layout& d;
};

std::uint64_t rows_of(const Layout& layout, CublasOperation operation) {
  return operation == cublas_plain ? layout.rows : layout.columns;
}

std::uint64_t columns_of(const Layout& layout, CublasOperation operation) {
  return operation == cublas_plain ? layout.columns : layout.rows;
}

CublasStatus check(const Description& product, const Operands& of) {
  if (columns_of(of.a, product.of_a) != rows_of(of.b, product.of_b) || rows_of(of.a, product.of_a) != of.d.rows ||
      columns_of(of.b, product.of_b) != of.d.columns)
    return invalid_value;
  if (of.a.type != of.b.type || of.c != of.d) return not_supported;
  if (of.a.type == cublas_float32 && of.d.type != cublas_float32) return not_supported;
  if (product.compute == cublas_compute_32f_fast_tf32 && of.a.type != cublas_float32) return not_supported;
  const bool is_known = product.epilogue == cublas_lt_nothing || product.epilogue == cublas_lt_relu ||
                        product.epilogue == cublas_lt_add_bias || product.epilogue == cublas_lt_add_bias_relu;
  return is_known ? cublas_success : invalid_value;
}

std::uint64_t mixed(std::uint64_t into, std::uint64_t value) { return (into ^ value) * 0x9E3779B97F4A7C15ULL; }

/// Equal only for equal products.
std::uint64_t mark_of(const Description& product, const Operands& of) {
  std::uint64_t mark = mixed(static_cast<std::uint64_t>(product.compute), product.epilogue);
  mark = mixed(mark, static_cast<std::uint64_t>(product.of_a) * 2 + static_cast<std::uint64_t>(product.of_b));
  for (const Layout* layout : {&of.a, &of.b, &of.d}) {
    mark = mixed(mixed(mark, static_cast<std::uint64_t>(layout->type)), layout->rows);
    mark = mixed(mixed(mark, layout->columns), layout->stride);
  }
  return mark;
}

std::uint64_t alignment_of(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return value & (~value + 1);
}

bool is_aligned(const void* address, std::uint64_t to) { return reinterpret_cast<std::uintptr_t>(address) % to == 0; }

/// data: the mark, alignments of a, b, c, d, that of the bias, the workspace.
CublasStatus choose(CublasLtHandle handle, CublasLtProduct product, CublasLtLayout a, CublasLtLayout b,
                    CublasLtLayout c, CublasLtLayout d, CublasLtLimits limits, int most, CublasLtChoice* choices,
                    int* found) {
  ++process().choices;
  *found = 0;
  const auto& description = as<Description>(product);
  const Operands of{as<Layout>(a), as<Layout>(b), as<Layout>(c), as<Layout>(d)};
  if (!as<LtHandle>(handle).is_alive || most < 1) return invalid_value;
  if (const CublasStatus status = check(description, of); status != cublas_success) return status;
  const auto& given = as<Limits>(limits);
  if (!process().options.finds_lt || given.workspace < workspace_needed) return not_supported;
  CublasLtAlgorithm algorithm{};
  algorithm.data[0] = mark_of(description, of);
  for (std::size_t i = 0; i < 4; ++i) {
    if (!std::has_single_bit(given.alignments[i])) return invalid_value;
    algorithm.data[1 + i] = given.alignments[i];
  }
  algorithm.data[5] = description.bias == nullptr ? 16 : alignment_of(description.bias);
  algorithm.data[6] = workspace_needed;
  choices[0] = {algorithm, workspace_needed, cublas_success, 1.0F, {}};
  *found = 1;
  return cublas_success;
}

struct Pointers {
  const void* a;
  const void* b;
  const void* c;
  void* d;
  void* workspace;
};

CublasStatus check(const Description& product, const Pointers& at, const CublasLtAlgorithm& algorithm) {
  const void* operands[] = {at.a, at.b, at.c, at.d};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!is_on_device(operands[i]) || !is_aligned(operands[i], algorithm.data[1 + i])) return invalid_value;
  }
  if (at.c != at.d || !is_on_device(at.workspace) || !is_aligned(at.workspace, 256)) return invalid_value;
  if ((product.epilogue & cublas_lt_add_bias) == 0) return cublas_success;
  return is_on_device(product.bias) && is_aligned(product.bias, algorithm.data[5]) ? cublas_success : invalid_value;
}

CublasStatus multiply(CublasLtHandle handle, CublasLtProduct product, const void* alpha, const void* a,
                      CublasLtLayout a_layout, const void* b, CublasLtLayout b_layout, const void* beta, const void* c,
                      CublasLtLayout c_layout, void* d, CublasLtLayout d_layout, const CublasLtAlgorithm* algorithm,
                      void* workspace, std::size_t workspace_bytes, StreamHandle stream) {
  const auto& description = as<Description>(product);
  const Operands of{as<Layout>(a_layout), as<Layout>(b_layout), as<Layout>(c_layout), as<Layout>(d_layout)};
  if (!as<LtHandle>(handle).is_alive || algorithm == nullptr) return invalid_value;
  if (const CublasStatus status = check(description, of); status != cublas_success) return status;
  if (algorithm->data[0] != mark_of(description, of) || workspace_bytes < algorithm->data[6]) return invalid_value;
  if (const CublasStatus status = check(description, Pointers{a, b, c, d, workspace}, *algorithm);
      status != cublas_success)
    return status;
  if (*static_cast<const float*>(beta) != 0.0F) return not_supported;
  const Product made{{a, of.a.type, of.a.stride, description.of_a == cublas_transposed},
                     {b, of.b.type, of.b.stride, description.of_b == cublas_transposed},
                     d,
                     of.d.type,
                     of.d.stride,
                     of.d.rows,
                     of.d.columns,
                     rows_of(of.b, description.of_b),
                     *static_cast<const float*>(alpha),
                     description.epilogue,
                     description.bias,
                     process().options.relu_keeps_nan};
  ++process().products;
  ++process().products_lt;
  process().last_compute = description.compute;
  process().runtime->run_host(stream, [made] { made.run(); });
  return cublas_success;
}

}  // namespace

CublasLtTable lt_functions() {
  return {create,      destroy<LtHandle>, create_layout,   destroy<Layout>, create_product, destroy<Description>,
          set_product, create_limits,     destroy<Limits>, set_limit,       choose,         multiply};
}

}  // namespace tutti::standin::cublas
