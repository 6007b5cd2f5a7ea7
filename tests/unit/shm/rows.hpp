// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/registry.hpp"
#include "call/machine.hpp"

namespace tutti::test {

/// The rows of the registry, asked by the names of their protocols.
inline bool can_do(detail::shm::Protocol protocol, const detail::Signature& signature, int size, bool single_copy,
                   bool goes_on_inside_mpi = false) {
  return detail::shm::row_of(protocol).fits(signature, size, {single_copy, goes_on_inside_mpi});
}
inline bool gives_at_once(detail::shm::Protocol protocol, const detail::Signature& signature, int size) {
  return detail::shm::row_of(protocol).gives_at_once(signature, size);
}
inline double predict(detail::shm::Protocol protocol, const detail::Signature& signature,
                      const detail::Machine& machine) {
  return detail::shm::row_of(protocol).seconds(signature, machine);
}

}  // namespace tutti::test
