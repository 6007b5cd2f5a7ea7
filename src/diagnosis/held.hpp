// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail::flight {

/// While it lives, the program can do nothing but wait for the requests that this thread tests, so that a test that
/// fails begins a wait.
class Held {
 public:
  Held() noexcept { ++depth(); }
  ~Held() { --depth(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  [[nodiscard]] static bool is_held() noexcept { return depth() != 0; }

 private:
  static int& depth() noexcept {
    thread_local int count = 0;
    return count;
  }
};

}  // namespace tutti::detail::flight
