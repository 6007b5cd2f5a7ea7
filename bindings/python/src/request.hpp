// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <tutti/error.hpp>
#include <tutti/request.hpp>
#include <utility>
#include <vector>

#include "error.hpp"
#include "view.hpp"

namespace tutti::python {

/// All that a call needs in memory until it is done.
struct Held {
  View first{};
  View second{};
  std::vector<View> more{};
  nanobind::object operation{};  ///< a user's reduction
};

/// Keeps memory that other ranks may still use, until the process ends.
void keep_until_exit(Held&& held);

/// Releases what operations hold that have ended and whose Python objects are gone.
void look_after_dropped_requests();

/// While it lives, dropped requests are not looked after, because a call of the library is under way in which others
/// must not go on. Under the interpreter's lock.
class NoLookAfter {
 public:
  NoLookAfter() noexcept;
  ~NoLookAfter();
  NoLookAfter(const NoLookAfter&) = delete;
  NoLookAfter& operator=(const NoLookAfter&) = delete;
};

/// The right to use an object from one thread; throws Error(code) if another thread has it.
class Turn {
 public:
  Turn(std::atomic<bool>& busy, ErrorCode code, const char* text) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) throw Error(code, text);
  }
  ~Turn() { busy_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

/// Runs a call without the interpreter's lock. A call that fails while other ranks use its memory keeps that.
template <typename Call>
auto without_lock(Held& held, const Call& call) {
  try {
    const nanobind::gil_scoped_release unlocked;
    return call();
  } catch (const Error& error) {
    if (leaves_buffers_in_use(error.code())) keep_until_exit(std::move(held));
    throw;
  }
}

/// A request, the memory of its operation and the value of wait().
class PythonRequest {
 public:
  PythonRequest(Request request, Held held, nanobind::object result, bool is_receive = false);
  /// Hands an operation that is under way over to later calls of the module, which see it through.
  ~PythonRequest();
  PythonRequest(const PythonRequest&) = delete;
  PythonRequest& operator=(const PythonRequest&) = delete;

  [[nodiscard]] bool test(nanobind::handle stream);
  /// Tests and yields; signal handlers of Python run meanwhile, and may raise.
  nanobind::object wait(nanobind::handle stream);
  void start();
  [[nodiscard]] nanobind::object result() const;
  [[nodiscard]] const Request& request() const noexcept { return request_; }

 private:
  bool test_for_a_while(long nanoseconds);
  void release_if_done();

  Request request_;
  Held held_;
  nanobind::object result_;
  std::atomic<bool> busy_{false};
  bool is_receive_;
};

void bind_request(nanobind::module_& module);

}  // namespace tutti::python
