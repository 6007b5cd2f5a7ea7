// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tutti/error.hpp>
#include <type_traits>
#include <utility>
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
  /// The number of values, then the values.
  template <typename T>
  void list(const std::vector<T>& all) {
    value(static_cast<std::uint64_t>(all.size()));
    values(all.data(), all.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_{};
};

/// Reads bytes of a ByteWriter. Every failure throws an Error "<subject>: <problem><advice>".
class ByteReader {
 public:
  struct Complaint {
    std::string subject;
    std::string advice{};
    ErrorCode code = ErrorCode::invalid_argument;
  };
  ByteReader(std::span<const std::byte> bytes, Complaint complaint) : bytes_(bytes), complaint_(std::move(complaint)) {}

  template <typename T>
  void values(T* to, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > bytes_.size() / sizeof(T)) fail("the bytes given to load() are truncated");
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
  [[nodiscard]] std::vector<T> list() {
    const auto count = value<std::uint64_t>();
    if (count > bytes_.size() / sizeof(T)) fail("the bytes given to load() are truncated");
    std::vector<T> all(count);
    values(all.data(), all.size());
    return all;
  }
  template <typename T>
  void expect(const T& expected, const char* problem) {
    if (value<T>() != expected) fail(problem);
  }
  void expect_end() const {
    if (!bytes_.empty()) fail("more bytes were given to load() than save() had returned");
  }
  [[nodiscard]] std::vector<std::byte> rest() const { return {bytes_.begin(), bytes_.end()}; }
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(complaint_.code, complaint_.subject + ": " + problem + complaint_.advice);
  }

 private:
  std::span<const std::byte> bytes_;
  Complaint complaint_;
};

}  // namespace tutti::training
