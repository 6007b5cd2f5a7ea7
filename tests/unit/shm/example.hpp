// SPDX-License-Identifier: BSD-3-Clause
// Calls as the protocols of shared memory see them, without any rank.
#pragma once

#include <vector>

#include "operation/shape.hpp"

namespace tutti::test {

using detail::Binding;
using detail::CallKind;
using detail::Signature;

inline Signature signature_of(Operation operation, std::size_t count, Datatype type = DatatypeKind::float32,
                              CallKind kind = CallKind::blocking, int root = 0) {
  Signature signature;
  signature.operation = operation;
  signature.count = tutti::is_varying(operation) ? 0 : count;
  signature.type = type;
  signature.kind = kind;
  signature.root = root;
  return signature;
}

/// Uneven counts, some of them 0, that every rank can compute: what `from` gives to `to`.
inline std::size_t uneven_count(int from, int to) { return static_cast<std::size_t>(from * 3 + to * 5) % 4; }

/// The binding of a v-form; alltoallv's blocks follow one another with a gap of one element.
inline Binding binding_of(Operation operation, int rank, int size, int root) {
  std::vector<std::size_t> send_counts;
  std::vector<std::size_t> send_displs;
  std::vector<std::size_t> recv_counts;
  std::vector<std::size_t> recv_displs;
  std::size_t sent = 0;
  std::size_t received = 0;
  for (int r = 0; r < size; ++r) {
    const std::size_t out = operation == Operation::alltoallv ? uneven_count(rank, r) : uneven_count(root, r);
    const std::size_t in = operation == Operation::alltoallv ? uneven_count(r, rank) : uneven_count(r, r);
    send_counts.push_back(out);
    send_displs.push_back(sent);
    recv_counts.push_back(in);
    recv_displs.push_back(received);
    sent += out + 1;
    received += in + 1;
  }
  Binding binding{{send_counts, send_displs, recv_counts, recv_displs}};
  binding.keep_lists();
  binding.send_count = uneven_count(rank, rank);
  binding.recv_count = uneven_count(root, rank);
  return binding;
}

}  // namespace tutti::test
