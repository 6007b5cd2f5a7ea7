// SPDX-License-Identifier: BSD-3-Clause
#include "device/beside_captures.hpp"

namespace tutti::detail::device {

BesideCaptures::BesideCaptures() noexcept : runtime_(runtime()) {
  if (runtime_ != nullptr && !runtime_->has_context()) runtime_ = nullptr;
  if (runtime_ != nullptr) former_ = runtime_->exchange_capture_mode(CaptureMode::relaxed);
}

BesideCaptures::~BesideCaptures() {
  if (runtime_ != nullptr) (void)runtime_->exchange_capture_mode(former_);
}

}  // namespace tutti::detail::device
