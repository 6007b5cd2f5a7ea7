// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// The parts of a trace that lie beside its file, of the job that was begun last. problems: a line for each file that
/// is none, and for the parts of other jobs.
[[nodiscard]] std::vector<std::string> find_parts(const std::string& file, std::vector<std::string>& problems);

/// Merges parts into one file, which it replaces. Returns the problem in words; empty: there was none. lines: a line
/// for each part that is left out.
[[nodiscard]] std::string merge(const std::vector<std::string>& paths, const std::string& file,
                                std::vector<std::string>& lines);

/// Turns the ticks of all parts into nanoseconds since the first call. Parts of one machine share its counter. Those of
/// other machines are moved by the offsets to the machine of rank 0 that were measured, in between in proportion to the
/// time; without any they keep their machine's clock. Returns how the clocks were aligned, in words.
[[nodiscard]] std::string align(std::vector<Part>& parts);

/// A message: the call that sends it and the call that receives it.
struct Message {
  Link send{};
  Link recv{};
};

/// Matches sends with receives: of one communicator, source, destination and tag the n-th with the n-th. A message
/// whose receive does not know its source yet is left out.
[[nodiscard]] std::vector<Message> match_messages(const std::vector<Part>& parts);

/// Finds for each call how long it waited for another rank, and for which call of that rank. The parts are aligned.
///
/// A collective waits for the last rank that came before the call let its own rank go; so the leaf of a broadcast waits
/// for its root, and never for another leaf that comes later. Only collectives that all ranks of the communicator have
/// recorded count, and none of neighbors. If a program waits for several requests at a time, the waits are put one
/// behind the other, in the order of their ends. A receive waits for a send that begins late, and a send for a receive
/// that does; messages are matched as MPI orders them.
void find_waits(std::vector<Part>& parts);

/// A text in quotes, as JSON has it. Bytes that are no UTF-8 become question marks.
[[nodiscard]] std::string json_text(std::string_view text);

/// Writes parts in the Trace Event Format, which Perfetto shows: a process for each rank, a line for each event, in the
/// order of time. Times are microseconds since the first call. clocks: how they were aligned.
///
/// A blocking call, a wait for a request and a range are slices; a nonblocking call is a slice without length at its
/// start, and an asynchronous slice until its end. Arrows lead from sends to receives, and from the rank that another
/// has waited for to that other.
void write_json(std::FILE* file, const std::vector<Part>& parts, std::string_view clocks);

}  // namespace tutti::detail::trace
