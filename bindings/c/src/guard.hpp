// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <new>
#include <string>
#include <tutti/error.hpp>

namespace tutti::c {

/// Keeps a message for this thread's tutti_error_message() and returns the code.
int fail(ErrorCode code, const char* message) noexcept;

/// Throws an error of an argument, with this process's rank before the text.
[[noreturn]] void throw_misuse(ErrorCode code, const std::string& problem);

/// The wall between C++ and C: runs `body` and turns any exception into a code and a message.
template <typename Body>
int guard(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, error.what());
  } catch (...) {
    return fail(ErrorCode::internal, "an exception of unknown type");
  }
}

}  // namespace tutti::c
