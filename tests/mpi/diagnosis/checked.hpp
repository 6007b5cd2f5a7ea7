// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <tutti/tutti.hpp>

namespace tutti::test {

using namespace std::chrono_literals;

inline CommunicatorOptions checking(std::chrono::nanoseconds timeout = 20s) {
  CommunicatorOptions options;
  options.check = CheckMode::calls;
  options.timeout = timeout;
  return options;
}

inline Communicator checked(std::chrono::nanoseconds timeout = 20s) {
  return Communicator::duplicate(MPI_COMM_WORLD, checking(timeout));
}

struct Outcome {
  ErrorCode code = ErrorCode::success;
  std::string text{};
  [[nodiscard]] bool has(std::string_view words) const { return text.find(words) != std::string::npos; }
};

inline Outcome outcome_of(const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

}  // namespace tutti::test
