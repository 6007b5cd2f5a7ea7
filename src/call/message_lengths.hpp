// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/links.hpp"
#include "schedules/phase_choice.hpp"

/// What follows from the lengths of the messages of a flat algorithm: the two ways of an MPI with short and with long
/// ones, how evenly they are spread over the rounds, and what a cache still holds of them.
namespace tutti::detail {

/// The work on the further messages of the rounds, in seconds.
[[nodiscard]] inline double further_seconds(const schedules::Cost& cost, const Link& link, bool both_ways) {
  return schedules::further(cost, link.latency, link.overhead, both_ways);
}

/// The bytes of a message in the mean.
[[nodiscard]] double message_bytes(const schedules::Algorithm& algorithm, const schedules::Cost& cost);

/// Extra latency of a rendezvous message over an eager one, averaged over the rounds, in seconds; may be negative.
[[nodiscard]] double longer(const schedules::Algorithm& algorithm, const schedules::Cost& cost, const Link& link,
                            double message);

/// The seconds that long messages add to the rounds, or save, at their two ends: no less where these are near each
/// other. Where data pass on they save none.
[[nodiscard]] double long_seconds(const schedules::Algorithm& algorithm, const schedules::Cost& cost, const Link& link,
                                  double message);

/// An MPI copies a message that its receiver need not ask for into memory of its own, and out of it at the other end:
/// of the last message of a round both follow one another.
[[nodiscard]] double eager_seconds(const schedules::Algorithm& algorithm, const schedules::Cost& cost, const Link& link,
                                   double message);

/// What single blocks in messages of their own add to the rounds beyond the mean: half of them go in one round, and the
/// work on few messages hides behind the start of their round, that on many does not.
[[nodiscard]] double uneven_seconds(const schedules::Algorithm& algorithm, const schedules::Cost& cost,
                                    const Link& link);

/// What the way of an MPI with short and with long messages adds to the rounds, or saves.
[[nodiscard]] double protocol_seconds(const schedules::Algorithm& algorithm, const schedules::Cost& cost,
                                      const Link& link);

/// The part of what a rank combines as it arrives that the caches have lost by the end of the round. Beside it they
/// hold what it is combined with.
[[nodiscard]] double lost_on_arrival(const schedules::Algorithm& algorithm, const schedules::Cost& cost, double cached);

}  // namespace tutti::detail
