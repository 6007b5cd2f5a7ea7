// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/operation.hpp>
#include <vector>

#include "splits.hpp"

namespace tutti::commbench {

/// A slice of a result: elements [at, at + length) are the combination, over ranks first to last, of the elements from
/// `offset` of their send buffers. Of a broadcast the root's buffer counts as its send buffer.
struct ResultSlice {
  std::size_t at = 0;
  std::size_t length = 0;
  int first = 0;
  int last = 0;
  std::size_t offset = 0;
};

/// Elements [at, at + length) of the receive buffer that hold this rank's own elements from `offset` before the call:
/// those of the root of a broadcast, and of calls in place.
struct GivenSlice {
  std::size_t at = 0;
  std::size_t length = 0;
  std::size_t offset = 0;
};

/// A message from the send buffer or into the receive buffer.
struct MessageSlice {
  bool is_recv = false;
  int peer = 0;
  int tag = 0;
  std::size_t at = 0;
  std::size_t length = 0;
};

/// What one rank passes to a call, in elements, and what it must get.
struct Shape {
  std::size_t count = 0;    ///< as the call takes it: of the vector, or of one block
  std::size_t send = 0;     ///< of the send buffer; 0 where it is not read
  std::size_t recv = 0;     ///< of the receive buffer, which is the buffer of a broadcast
  std::size_t total = 0;    ///< of the vector, or of all blocks of one rank together: the size of the point
  std::size_t largest = 0;  ///< of the longest buffer of any rank; equal on all
  std::vector<std::size_t> send_counts{};
  std::vector<std::size_t> send_displs{};
  std::vector<std::size_t> recv_counts{};
  std::vector<std::size_t> recv_displs{};
  std::vector<ResultSlice> result{};
  std::vector<GivenSlice> given{};
  std::vector<MessageSlice> messages{};  ///< where no collective is called
};

struct World {
  int rank = 0;
  int ranks = 1;
  int root = 0;
};

/// `elements`: of the whole size of the point. Blocks are equal but those of the v-forms and of reduce_scatter, which
/// `splits` divides.
[[nodiscard]] Shape make_shape(Operation operation, std::size_t elements, const World& world, const Splits& splits);

/// The argument that is in_place on this rank in a call in place.
[[nodiscard]] InPlaceSide in_place_side(Operation operation, const World& world);

/// The buffers of such a call: what this rank gives lies in the receive buffer, or what it takes stays in the send
/// buffer.
[[nodiscard]] Shape make_in_place(Operation operation, const World& world, Shape shape);

}  // namespace tutti::commbench
