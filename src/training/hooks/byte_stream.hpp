// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tutti/error.hpp>
#include <type_traits>
#include <vector>

/// State as bytes: values and vectors one after another, in the byte order of this machine.
namespace tutti::training {

class ByteWriter {
 public:
  template <typename T>
  void values(const T* from, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return;
    const auto* bytes = reinterpret_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + count * sizeof(T));
  }
  template <typename T>
  void value(const T& x) {
    values(&x, 1);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_{};
};

/// Throws Error(invalid_argument), which begins with `what`, if the bytes end too early.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  template <typename T>
  void values(T* to, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > bytes_.size() / sizeof(T)) fail("the bytes given to load() end too early");
    if (count == 0) return;
    std::memcpy(to, bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }
  template <typename T>
  [[nodiscard]] T value() {
    T x;
    values(&x, 1);
    return x;
  }
  template <typename T>
  void expect(const T& expected, const char* problem) {
    if (value<T>() != expected) fail(problem);
  }
  void expect_end() const {
    if (!bytes_.empty()) fail("more bytes were given to load() than save() had returned");
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorCode::invalid_argument, what_ + ": " + problem);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string what_;
};

}  // namespace tutti::training
