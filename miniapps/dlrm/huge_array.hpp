// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace dlrm {

/// Zeroed floats for tables that are read in random order: page-aligned, and in huge pages where the system gives them,
/// since with 4 KiB pages every row costs a miss of the address cache too. Move-only; owns its memory.
class HugeArray {
 public:
  HugeArray() = default;
  /// Throws tutti::Error (out_of_memory) naming the size.
  explicit HugeArray(std::size_t count);
  ~HugeArray();
  HugeArray(HugeArray&& other) noexcept;
  HugeArray& operator=(HugeArray&& other) noexcept;
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;

  [[nodiscard]] float* data() { return data_; }
  [[nodiscard]] const float* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<float> span() { return {data_, count_}; }
  [[nodiscard]] std::span<const float> span() const { return {data_, count_}; }

 private:
  float* data_ = nullptr;
  std::size_t count_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace dlrm
