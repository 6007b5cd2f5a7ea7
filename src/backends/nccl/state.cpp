// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/state.hpp"

#include "call/context.hpp"

namespace tutti::detail::nccl {

void State::abort() noexcept {
  const std::lock_guard lock(mutex_);
  if (comm_) comm_->abort();
}

void State::release() noexcept {
  watch_.stop();
  std::unique_ptr<Comm> ended;  // without the lock: its end may take long
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(comm_);
  }
}

State* state_of(const Context& context) noexcept {
  auto* state = static_cast<State*>(context.state_of(nccl_backend));
  return state == nullptr || state->is_released() ? nullptr : state;
}

}  // namespace tutti::detail::nccl
