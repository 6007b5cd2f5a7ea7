// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// While it lives, calls of this thread that have nothing to do with a capture do not invalidate one that is open on
/// any stream of the process: queries, allocations, and MPI, which makes such calls inside. Costs a load where the
/// process uses no device.
class BesideCaptures {
 public:
  BesideCaptures() noexcept : runtime_(runtime()) {
    if (runtime_ != nullptr && !runtime_->has_context()) runtime_ = nullptr;
    if (runtime_ != nullptr) former_ = runtime_->exchange_capture_mode(CaptureMode::relaxed);
  }
  ~BesideCaptures() {
    if (runtime_ != nullptr) (void)runtime_->exchange_capture_mode(former_);
  }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  Runtime* runtime_;  ///< null: nothing was exchanged
  CaptureMode former_ = CaptureMode::global;
};

}  // namespace tutti::detail::device
