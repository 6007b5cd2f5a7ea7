// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/comm_body.hpp"

#include <fmt/format.h>

#include "device/traffic.hpp"

namespace tutti::detail::nccl {

void CommBody::throw_if_aborted() const {
  if (aborted.load(std::memory_order_acquire))
    throw Error(ErrorCode::aborted, "the NCCL communicator was aborted; make another communicator");
}

Result CommBody::poll() {
  const std::lock_guard lock(mutex);
  throw_if_aborted();
  Result state = Result::success;
  const Result asked = table.comm_get_async_error(handle, &state);
  return asked == Result::success ? state : asked;
}

std::optional<Result> CommBody::poll_between_launches() {
  const std::unique_lock no_launch(device::Traffic::of(device).launch_mutex(), std::try_to_lock);
  if (no_launch) return poll();
  throw_if_aborted();
  return std::nullopt;
}

std::string CommBody::text(const char* what, Result result) const {
  const char* said = table.get_last_error(nullptr);
  const bool is_known = said != nullptr && *said != '\0';
  return fmt::format("{} failed: {}{}{}", what, table.get_error_string(result), is_known ? ": " : "",
                     is_known ? said : "");
}

std::unique_ptr<device::Guard> CommBody::on_device() const noexcept {
  try {
    if (device::runtime() != nullptr) return std::make_unique<device::Guard>(device);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): CUDA ends before its communicators do
  }
  return nullptr;
}

void CommBody::deregister(std::uint64_t range) noexcept {
  const std::lock_guard no_launch(device::Traffic::of(device).launch_mutex());
  const std::lock_guard lock(mutex);
  const auto found = registrations.find(range);
  if (found == registrations.end() || handle == nullptr) return;
  const auto guard = on_device();
  if (found->second.buffer != nullptr) (void)table.comm_deregister(handle, found->second.buffer);
  if (found->second.window != nullptr) (void)table.comm_window_deregister(handle, found->second.window);
  registrations.erase(found);
}

}  // namespace tutti::detail::nccl
