// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// What begins or ends; at one time, in this order.
enum class What : std::uint8_t {
  range,
  call,   ///< a blocking one
  start,  ///< of a call that goes on
  wait,
  async_begin,
  message_out,
  wait_out,
  message_in,
  wait_in,
  async_end,
};

/// An event of a range or a call of a part. An arrow has the number of the call at which it ends.
struct Event {
  std::int64_t time = 0;  ///< nanoseconds
  std::size_t index = 0;
  std::uint32_t part = 0;
  What what = What::call;
};

/// Waits that are shorter have no arrow, nanoseconds.
inline constexpr std::int64_t least_arrow = 1000;

/// The events of a trace in the order of time.
[[nodiscard]] std::vector<Event> events_of(const std::vector<Part>& parts);

/// The name of a call in a trace: "iallreduce".
[[nodiscard]] std::string name_of(const TracedCall& call);
/// The way by which data went: "shm:slots".
[[nodiscard]] std::string path_of(const Part& part, const TracedCall& call);

}  // namespace tutti::detail::trace
