// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "array.hpp"
#include "cublas_table.hpp"

namespace tutti::miniapps::device {

/// Throws Error(cuda) with the status unless it is success.
void check_cublas(CublasStatus status, const char* what);

/// Products with what follows them in one launch, by cublasLt: y[n][out] = relu(x[n][in] * w[out][in]^T + b).
///
/// cublasLt's ReLU is max(x, 0), and no documentation says whether that keeps a NaN, which must reach the loss. So the
/// first product of a shape is made with a factor of NaN too: where anything but NaN comes out, cublasLt does not make
/// products of that shape. What was found out is kept for each shape, with cublasLt's choice of an algorithm.
class CublasLt {
 public:
  struct Product {
    std::size_t n;
    std::size_t in;
    std::size_t out;
    CublasData operands;
    CublasData result;
    CublasCompute compute;
    auto operator<=>(const Product&) const = default;
  };
  struct Layer {
    const void* x;
    const void* w;
    const void* b;  ///< of the result's type; may be null
    void* y;
    Product product;
    bool relu;
  };

  /// The table and the workspace, which others may use in the order of the stream, outlive this.
  CublasLt(const CublasLtTable& table, StreamHandle stream, std::span<std::byte> workspace);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  /// In stream order, and may be captured, except that the first with ReLU of a shape waits for the stream. False, and
  /// y is undefined, where cublasLt does not take the shape, has no algorithm or loses a NaN.
  [[nodiscard]] bool multiply(const Layer& layer);

 private:
  struct Shape {
    Product product;
    CublasLtEpilogue epilogue;
    std::uint32_t alignment_of_x;  ///< bytes, as the next three
    std::uint32_t alignment_of_w;
    std::uint32_t alignment_of_b;
    std::uint32_t alignment_of_y;
    auto operator<=>(const Shape&) const = default;
  };
  /// cublasLt's description of a product.
  struct Plan {
    explicit Plan(const CublasLtTable& functions) : table(&functions) {}
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    const CublasLtTable* table;
    CublasLtProduct product = nullptr;
    CublasLtLayout w = nullptr;
    CublasLtLayout x = nullptr;
    CublasLtLayout y = nullptr;
    CublasLtAlgorithm algorithm{};
    bool is_usable = false;
  };

  static Shape shape_of(const Layer& layer);
  /// False where cublasLt refuses, as the next two.
  [[nodiscard]] bool describe(Plan& plan, const Shape& shape) const;
  [[nodiscard]] bool choose(Plan& plan, const Shape& shape) const;
  [[nodiscard]] bool set_bias(const Plan& plan, const Layer& layer) const;
  void prepare(Plan& plan, const Shape& shape, const Layer& layer);
  void run(const Plan& plan, const Layer& layer, float factor) const;
  [[nodiscard]] bool keeps_nan(const Plan& plan, const Layer& layer) const;

  const CublasLtTable* table_;
  StreamHandle stream_;
  std::span<std::byte> workspace_;
  CublasLtHandle handle_ = nullptr;
  Array<float> found_;  ///< 1 where a number was found
  PinnedArray<float> found_on_host_;
  std::map<Shape, Plan> plans_;
};

}  // namespace tutti::miniapps::device
