// SPDX-License-Identifier: BSD-3-Clause
// What standin_device.f90 needs of the stand-ins: streams, "kernels" on them, and memory that the host must not touch.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "mpi/nccl/support.hpp"

using tutti::test::Gate;
using tutti::test::machine;

namespace {

std::unique_ptr<Gate>& gate() {
  static auto* one = new std::unique_ptr<Gate>;
  return *one;
}

}  // namespace

extern "C" {

void* standin_stream() { return machine().stream; }

/// Numbers in "device" memory; for the life of the program.
void* standin_device_memory(std::size_t count) {
  return machine().runtime.allocate(tutti::MemoryKind::device, count * sizeof(std::int64_t));
}

/// "Kernels": write first, first + step, ... ; copy to the host.
void standin_fill(std::int64_t* data, std::size_t count, std::int64_t first, std::int64_t step) {
  machine().runtime.run_host(machine().stream, [=] {
    for (std::size_t i = 0; i < count; ++i) data[i] = first + step * static_cast<std::int64_t>(i);
  });
}
void standin_copy(std::int64_t* to, const std::int64_t* from, std::size_t count) {
  machine().runtime.run_host(machine().stream, [=] { std::copy_n(from, count, to); });
}

/// The stream goes no further from here, until it is opened; then everything runs.
void standin_close() { gate() = std::make_unique<Gate>(machine().stream); }
void standin_run() {
  if (gate()) *gate()->open = true;
  gate().reset();
  machine().drain();
}

/// Whether the last call of NCCL was told that algorithm.
int standin_was_told(const char* algorithm) {
  return machine().nccl.record().back().ends_with("by " + std::string(algorithm) + ")") ? 1 : 0;
}

/// Whether an expectation of the stand-ins, or of this file, was broken.
int standin_failed() { return ::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0; }

}  // extern "C"
