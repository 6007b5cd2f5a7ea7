// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucontext.h>

#include <functional>

namespace tutti::simulation {

/// A function with a stack of its own, which can stop anywhere and go on later, in one thread.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs it until it yields or ends. Called from outside of all fibers.
  void resume();
  /// Stops the fiber that runs.
  static void yield();
  /// Returns true if a fiber runs.
  [[nodiscard]] static bool is_inside();
  [[nodiscard]] bool has_ended() const { return ended_; }

 private:
  /// The exceptions that are being thrown and handled, which the compiler's runtime keeps for each thread.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  static Exceptions& exceptions_of_thread();
  static void enter();

  std::function<void()> body_;
  void* stack_;
  ucontext_t own_{};
  ucontext_t back_{};
  Exceptions exceptions_{};
  bool ended_ = false;
};

}  // namespace tutti::simulation
