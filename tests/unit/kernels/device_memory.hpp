// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <tutti/kernels/device.hpp>
#include <utility>
#include <vector>

#include "support/standin/device_arena.hpp"
#include "support/standin/runtime.hpp"

/// Device memory of the stand-in runtime, for tests of kernels in stream order.
namespace device_test {

using namespace tutti;
using namespace tutti::kernels;

/// An array in device memory; comes from the host and goes back by synchronous copies, as in a program.
template <typename T>
class Array {
 public:
  Array(standin::Runtime& runtime, std::size_t count) : runtime_(&runtime), count_(count) {
    if (count > 0) data_ = static_cast<T*>(runtime.allocate(MemoryKind::device, count * sizeof(T)));
  }
  Array(standin::Runtime& runtime, const std::vector<T>& values) : Array(runtime, values.size()) {
    const standin::HostAccess access;
    if (count_ > 0) std::memcpy(static_cast<void*>(data_), values.data(), count_ * sizeof(T));
  }
  ~Array() {
    if (data_ != nullptr) runtime_->release(MemoryKind::device, data_);
  }
  Array(Array&& other) noexcept
      : runtime_(other.runtime_), data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  Array& operator=(Array&&) = delete;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  void set(std::size_t i, T value) const {
    const standin::HostAccess access;
    data_[i] = value;
  }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(count_);
    const standin::HostAccess access;
    if (count_ > 0) std::memcpy(static_cast<void*>(result.data()), data_, count_ * sizeof(T));
    return result;
  }

 private:
  standin::Runtime* runtime_;
  T* data_ = nullptr;
  std::size_t count_;
};

/// A runtime with a stream that does nothing until it is run.
class Device : public testing::Test {
 protected:
  Device() {
    runtime.install();
    handle = runtime.create_stream();
    stream = Stream(StreamKind::cuda, handle);
  }
  ~Device() override { runtime.destroy_stream(handle); }

  template <typename T>
  [[nodiscard]] Array<T> upload(const std::vector<T>& values) {
    return Array<T>(runtime, values);
  }
  template <typename T>
  [[nodiscard]] Array<T> make(std::size_t count) {
    return Array<T>(runtime, count);
  }

  standin::Runtime runtime;
  void* handle = nullptr;
  Stream stream;
};

template <typename T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  if (got.empty() || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0) return;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0) << what << ", element " << i << " of " << got.size();
  }
}

}  // namespace device_test
