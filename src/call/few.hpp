// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::detail {

/// A list of fixed length that needs no heap for up to `Inline` items.
template <typename T, std::size_t Inline>
class Few {
 public:
  explicit Few(std::size_t size, const T& value = T{}) : size_(size) {
    inline_.fill(value);
    if (size > Inline) more_.assign(size, value);
  }
  template <std::size_t N>
  explicit Few(std::array<T, N>&& items) : size_(N) {
    static_assert(N <= Inline);
    std::move(items.begin(), items.end(), inline_.begin());
  }
  explicit Few(std::vector<T>&& items) : size_(items.size()) {
    if (size_ > Inline)
      more_ = std::move(items);
    else
      std::move(items.begin(), items.end(), inline_.begin());
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* begin() noexcept { return size_ > Inline ? more_.data() : inline_.data(); }
  [[nodiscard]] const T* begin() const noexcept { return size_ > Inline ? more_.data() : inline_.data(); }
  [[nodiscard]] T* end() noexcept { return begin() + size_; }
  [[nodiscard]] const T* end() const noexcept { return begin() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return begin()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return begin()[i]; }
  [[nodiscard]] T& front() noexcept { return *begin(); }

 private:
  std::array<T, Inline> inline_{};
  std::vector<T> more_;
  std::size_t size_;
};

}  // namespace tutti::detail
