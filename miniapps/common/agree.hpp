// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>

namespace tutti::miniapps {

/// An error that all ranks throw alike, so that the program can end on all of them without one hanging.
struct AgreedError : Error {
  using Error::Error;
};

/// Throws the same AgreedError on all ranks when any rank passes an error text; the text is that of the lowest such
/// rank. Collective over `comm`; blocking. An empty text is no error.
void agree(const Communicator& comm, const std::string& local_error);

/// Runs a local action that may fail on some ranks only (files, memory); all ranks then go on, or all throw.
/// Collective over `comm`; blocking.
template <typename Action>
void run_agreed(const Communicator& comm, Action&& action) {
  std::string error;
  try {
    action();
  } catch (const AgreedError&) {
    throw;
  } catch (const std::exception& e) {
    error = *e.what() != '\0' ? e.what() : "unknown failure";
  }
  agree(comm, error);
}

}  // namespace tutti::miniapps
