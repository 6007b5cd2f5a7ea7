// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/datatype.hpp>
#include <tutti/layout.hpp>

#include "call/few.hpp"

namespace tutti::detail {

/// A send or a receive, as requested; wildcards are MPI's.
struct PointToPoint {
  bool is_recv = false;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
  Datatype type{};
  int peer = 0;
  int tag = 0;
  /// Matches the message before receiving it, so that a message that is too long is an error of this call: MPICH gives
  /// the error of a posted receive to the handler of MPI_COMM_WORLD, which aborts. Only for calls that wait, because a
  /// matched receive progresses in this library alone.
  bool matches_first = false;
  bool on_device = false;  ///< the bytes are in device memory
  /// The places of the elements in the caller's buffer; null if it is contiguous. The execution packs them, and `from`
  /// or `to` is then its own memory.
  std::shared_ptr<const Grid> layout{};
  const void* laid_from = nullptr;  ///< the caller's buffer, if it has a layout
  void* laid_to = nullptr;
};

/// The transfers of one operation; a send, a receive, or one of each need no heap.
using PointToPoints = Few<PointToPoint, 2>;

/// A message that is looked for; wildcards are MPI's.
struct Wanted {
  int source = 0;
  int tag = 0;
  std::size_t unit = 1;  ///< size of an element, in bytes
};

}  // namespace tutti::detail
