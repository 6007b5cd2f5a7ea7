// SPDX-License-Identifier: BSD-3-Clause
// The registrations and operations that a communicator makes once per range or factor.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <tutti/float_types.hpp>
#include <utility>

#include "backends/nccl/comm.hpp"
#include "backends/nccl/comm_body.hpp"
#include "device/allocations.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using Scalar = std::array<std::byte, 8>;

template <typename T>
Scalar scalar_of(T value) {
  Scalar bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Scalar scalar_of(DataType type, double factor) {
  switch (type) {
    case DataType::int8:
      return scalar_of(static_cast<std::int8_t>(factor));
    case DataType::uint8:
      return scalar_of(static_cast<std::uint8_t>(factor));
    case DataType::int32:
      return scalar_of(static_cast<std::int32_t>(factor));
    case DataType::uint32:
      return scalar_of(static_cast<std::uint32_t>(factor));
    case DataType::int64:
      return scalar_of(static_cast<std::int64_t>(factor));
    case DataType::uint64:
      return scalar_of(static_cast<std::uint64_t>(factor));
    case DataType::float16:
      return scalar_of(float16_t(static_cast<float>(factor)));
    case DataType::float32:
      return scalar_of(static_cast<float>(factor));
    case DataType::float64:
      return scalar_of(factor);
    case DataType::bfloat16:
      return scalar_of(bfloat16_t(static_cast<float>(factor)));
    case DataType::float8_e4m3:
      return scalar_of(float8_e4m3_t(static_cast<float>(factor)));
    case DataType::float8_e5m2:
      return scalar_of(float8_e5m2_t(static_cast<float>(factor)));
  }
  throw Error(ErrorCode::internal, "NCCL has no such type");
}

using device::Allocations;

/// Finds the range of the library's device allocator that holds an address, on this device.
std::optional<Allocations::AddressRange> range_of(const void* address, int device) {
  if (address == nullptr) return std::nullopt;
  auto range = Allocations::instance().find(address);
  if (range && (range->kind != MemoryKind::device || range->device != device)) range.reset();
  return range;
}

}  // namespace

RedOp Comm::pre_multiplied_sum(DataType type, double factor) {
  body_->throw_if_aborted();
  const auto key = std::pair(type, std::bit_cast<std::uint64_t>(factor));
  if (const auto found = body_->factors.find(key); found != body_->factors.end()) return found->second;
  Scalar scalar = scalar_of(type, factor);
  RedOp op = RedOp::sum;
  Result made =
      body_->table.red_op_create_pre_mul_sum(&op, scalar.data(), type, ScalarResidence::host_immediate, handle());
  while (made == Result::in_progress) made = poll();  // a local call
  require(made, "ncclRedOpCreatePreMulSum");
  const std::lock_guard lock(body_->mutex);
  body_->factors.emplace(key, op);
  return op;
}

void Comm::use_registered(const void* address) {
  body_->throw_if_aborted();
  if (body_->table.comm_register == nullptr) return;
  const auto range = range_of(address, device());
  if (!range) return;
  {
    const std::lock_guard lock(body_->mutex);
    CommBody::Registration& made = body_->registrations[range->id];
    if (made.was_offered) return;
    made.was_offered = true;
    if (body_->table.comm_register(body_->handle, range->base, range->bytes, &made.buffer) != Result::success)
      made.buffer = nullptr;
  }
  CommBody* body = body_.get();  // unwatch() comes before its end
  (void)Allocations::instance().watch(range->id, body, [body, id = range->id] { body->deregister(id); });
}

Windows Comm::windows_of(const void* input, const void* output) const {
  {
    const std::lock_guard lock(body_->mutex);
    if (body_->windows.empty()) return {};
  }
  // Not under the lock, which the end of a range takes.
  const auto input_range = range_of(input, device());
  const auto output_range = range_of(output, device());
  const std::lock_guard lock(body_->mutex);
  const auto is_in_one = [this](const std::optional<Allocations::AddressRange>& range) {
    const auto found = range ? body_->registrations.find(range->id) : body_->registrations.end();
    return found != body_->registrations.end() && found->second.window != nullptr;
  };
  return {is_in_one(input_range), is_in_one(output_range)};
}

std::vector<int> Comm::windows() const {
  const std::lock_guard lock(body_->mutex);
  std::vector<int> has;
  for (const std::uint64_t id : body_->windows) {
    const auto found = body_->registrations.find(id);
    has.push_back(found != body_->registrations.end() && found->second.window != nullptr ? 1 : 0);
  }
  return has;
}

void Comm::keep_windows(const std::vector<int>& on_all) {
  body_->throw_if_aborted();
  const std::lock_guard lock(body_->mutex);
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 0; i < on_all.size(); ++i) {
    const std::uint64_t id = body_->windows[i];
    if (on_all[i] != 0)
      kept.push_back(id);
    else if (const auto found = body_->registrations.find(id); found != body_->registrations.end())
      if (WindowHandle window = std::exchange(found->second.window, nullptr); window != nullptr)
        (void)body_->table.comm_window_deregister(handle(), window);
  }
  body_->windows = std::move(kept);
}

bool Comm::register_window(const void* address, std::chrono::nanoseconds timeout) {
  constexpr int symmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC
  const auto range = range_of(address, device());
  if (body_->table.comm_window_register == nullptr || !range) return false;
  WindowHandle* window = nullptr;
  {
    const std::lock_guard lock(body_->mutex);
    window = &body_->registrations[range->id].window;  // NCCL may write it later, even after a timeout
    body_->windows.push_back(range->id);
  }
  {
    const device::Turn turn(device::Traffic::of(device()), device::give_way);
    body_->throw_if_aborted();
    constexpr const char* what = "ncclCommWindowRegister";
    auto begun = std::make_shared<Result>(Result::success);
    const auto begin = [body = body_, range = *range, window, begun] {
      *begun = body->table.comm_window_register(body->handle, range.base, range.bytes, window, symmetric);
    };
    try {
      if (is_blocking())  // it waits for the other ranks
        await(*Launcher::of(device()).begin(begin), what, timeout);
      else
        begin();
      // Success may only mean that it has begun (NCCL 2.28.9 to 2.30.7).
      check(*begun == Result::success ? Result::in_progress : *begun, what, timeout);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::nccl) throw;
      return false;
    }
  }
  CommBody* body = body_.get();
  (void)Allocations::instance().watch(range->id, body, [body, id = range->id] { body->deregister(id); });
  return *window != nullptr;
}

std::optional<Comm::Spot> Comm::spot_of(const void* address, std::size_t bytes) const {
  const auto range = range_of(address, device());
  if (!range || window_of_range(range->id) == nullptr) return std::nullopt;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - range->base);
  if (bytes > range->bytes - offset) return std::nullopt;
  const std::lock_guard lock(body_->mutex);
  const auto found = std::ranges::find(body_->windows, range->id);
  if (found == body_->windows.end()) return std::nullopt;
  return Spot{static_cast<std::uint64_t>(found - body_->windows.begin()), offset};
}

std::uint64_t Comm::range_of_window(std::uint64_t window) const {
  const std::lock_guard lock(body_->mutex);
  return window < body_->windows.size() ? body_->windows[window] : 0;
}

WindowHandle Comm::window_of_range(std::uint64_t range) const {
  const std::lock_guard lock(body_->mutex);
  const auto found = body_->registrations.find(range);
  return found == body_->registrations.end() ? nullptr : found->second.window;
}

std::string Comm::why_no_puts() const {
  constexpr int oldest_driver = 12050;
  body_->throw_if_aborted();
  if (body_->table.put_signal == nullptr) return "NCCL before 2.30 has no puts";
  const int driver = device::required_runtime("NCCL").driver_version();
  if (driver > 0 && driver < oldest_driver) return "NCCL's puts need a CUDA driver of 12.5 or newer";
  Properties properties;
  const Result asked = body_->table.comm_query_properties(handle(), &properties);
  if (asked != Result::success) return body_->text("ncclCommQueryProperties", asked);
  return properties.has_host_rma ? "" : "NCCL has no puts between these devices (host RMA)";
}

}  // namespace tutti::detail::nccl
