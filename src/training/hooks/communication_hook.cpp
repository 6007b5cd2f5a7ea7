// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/communication_hook.hpp>
#include <tutti/error.hpp>

namespace tutti {

CommunicationHook::~CommunicationHook() = default;

void CommunicationHook::load(std::span<const std::byte> state) {
  if (state.empty()) return;
  throw Error(ErrorCode::invalid_argument, "communication hook " + name() + ": has no state, but " +
                                               std::to_string(state.size()) +
                                               " bytes were given to load(); is the state of another hook?");
}

}  // namespace tutti
