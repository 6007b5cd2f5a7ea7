// SPDX-License-Identifier: BSD-3-Clause
#include "device/runtime.hpp"

#include <fmt/format.h>

#include <atomic>
#include <tutti/error.hpp>

namespace tutti::detail::device {
namespace {

std::atomic<Runtime*> replaced{nullptr};
std::atomic<std::uint64_t> generation{0};

}  // namespace

Runtime* runtime() noexcept {
  Runtime* other = replaced.load(std::memory_order_acquire);
  return other != nullptr ? other : built_runtime();
}

Runtime& required_runtime(const char* what) {
  if (Runtime* found = runtime()) return *found;
  throw Error(ErrorCode::not_built, std::string(what) + ": " + no_runtime_text);
}

Runtime* replace_runtime(Runtime* other) noexcept {
  generation.fetch_add(1, std::memory_order_acq_rel);
  return replaced.exchange(other, std::memory_order_acq_rel);
}

std::uint64_t runtime_generation() noexcept { return generation.load(std::memory_order_acquire); }

void Runtime::run_host(StreamHandle /*stream*/, std::function<void()> /*function*/, const void* /*kernel*/) {
  throw Error(ErrorCode::internal, "run_host: this runtime does not run host functions");
}

void Runtime::note_unused(void* /*memory*/, std::size_t /*bytes*/) noexcept {}
void Runtime::load_kernel(const void* /*code*/) {}

std::string Runtime::bus_id(int /*device*/) { return {}; }
int Runtime::capability(int /*device*/) { return 0; }
int Runtime::driver_version() { return 0; }
int Runtime::runtime_version() { return 0; }

CaptureMode Runtime::exchange_capture_mode(CaptureMode mode) noexcept { return mode; }

void* Runtime::allocate_ordered(std::size_t /*bytes*/, StreamHandle /*stream*/) { return nullptr; }
void Runtime::release_ordered(void* /*address*/, StreamHandle /*stream*/) noexcept {}

void Runtime::start_graph(StreamHandle /*stream*/) {
  throw Error(ErrorCode::not_supported, "start_graph: this runtime does not support graphs");
}

GraphHandle Runtime::finish_graph(StreamHandle /*stream*/) {
  throw Error(ErrorCode::not_supported, "finish_graph: this runtime does not support graphs");
}

void Runtime::launch_graph(GraphHandle /*graph*/, StreamHandle /*stream*/) {
  throw Error(ErrorCode::not_supported, "launch_graph: this runtime does not support graphs");
}

void Runtime::release_graph(GraphHandle /*graph*/) noexcept {}

Guard::Guard(int device) : former_(required_runtime("device").current_device()), changed_(former_ != device) {
  if (changed_) runtime()->enter_device(device);
}

Guard::~Guard() {
  if (!changed_) return;
  try {
    runtime()->leave_device(former_);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the device's failure is reported by the call itself
  }
}

void throw_per_thread(std::string_view who) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: option stream is cudaStreamPerThread, which is another stream in each thread, and other "
                          "threads launch work for the caller; pass a stream made by cudaStreamCreate, or the default "
                          "stream",
                          who));
}

}  // namespace tutti::detail::device
