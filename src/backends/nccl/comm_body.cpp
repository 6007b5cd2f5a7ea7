// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/comm_body.hpp"

#include <fmt/format.h>

#include "core/config.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {

void CommBody::throw_if_aborted() const {
  if (aborted.load(std::memory_order_acquire))
    throw Error(ErrorCode::aborted, "the NCCL communicator was aborted; make another communicator");
  if (is_lost())
    throw Error(ErrorCode::aborted,
                "the NCCL communicator shares resources with one that was aborted; make another communicator");
}

/// NCCL reads as much of it as its version knows.
void CommBody::configure(const CommunicatorOptions& options) {
  const auto chosen = [](int value) { return value > 0 ? value : unset; };
  is_blocking = detail::config().nccl_blocking;
  config.blocking = is_blocking ? 1 : 0;
  config.min_ctas = chosen(options.nccl.min_ctas);
  config.max_ctas = chosen(options.nccl.max_ctas);
  if (options.nccl.split_share) config.split_share = 1;
  if (table.version < version_of_long_config) return;
  config.size = sizeof config;
  config.version = version_of_long_config;
  config.nvls_ctas = chosen(options.nccl.nvls_ctas);
  if (options.nccl.cta_policy != CtaPolicy::standard) config.cta_policy = static_cast<int>(options.nccl.cta_policy);
  name = options.name;
  if (!name.empty()) config.comm_name = name.c_str();
}

Result CommBody::poll() {
  const std::lock_guard lock(mutex);
  throw_if_aborted();
  if (is_splitting) return Result::in_progress;
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
  if (found == registrations.end() || handle == nullptr || is_lost()) return;
  const auto guard = on_device();
  if (found->second.buffer != nullptr) (void)table.comm_deregister(handle, found->second.buffer);
  if (found->second.window != nullptr) (void)table.comm_window_deregister(handle, found->second.window);
  registrations.erase(found);
}

}  // namespace tutti::detail::nccl
