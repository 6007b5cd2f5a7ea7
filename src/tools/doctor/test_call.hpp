// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "tools/doctor/pattern.hpp"

namespace tutti::tools::doctor {

/// Memory of one kind, host or device.
class TestMemory {
 public:
  TestMemory(std::size_t bytes, MemoryKind kind);
  ~TestMemory();
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  /// Copy as many bytes as the memory has. Return when the copy is done.
  void write(const std::vector<std::byte>& from);
  [[nodiscard]] std::vector<std::byte> read() const;
  [[nodiscard]] void* data() const { return data_; }

 private:
  MemoryKind kind_;
  std::vector<std::byte> host_;
  std::size_t bytes_;
  void* data_;
};

/// A call by one way, with its buffers.
class TestCall {
 public:
  /// `way`: as Options::algorithm; empty: the planner's choice. The communicator must outlive it.
  TestCall(const Communicator& comm, const Trial& trial, const std::string& way, MemoryKind kind);

  /// Fills the buffers anew. Local.
  void fill();
  /// Makes the call. Collective.
  void run();
  /// What is wrong with the output, in words; empty: nothing. Local.
  [[nodiscard]] std::string fault() const;

 private:
  const Communicator& comm_;
  Trial trial_;
  Options options_{};
  TestMemory input_;
  TestMemory output_;
};

}  // namespace tutti::tools::doctor
