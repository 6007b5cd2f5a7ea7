// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/error.hpp>

#include "training/parameter_server/access.hpp"

namespace tutti::detail::server {

void RowWait::pause() {
  using clock = std::chrono::steady_clock;
  const bool polls_again = backoff_.pause();
  if (polls_again && backoff_.polls() % 256 != 0) return;
  services::check_aborted(comm_);
  if (begin_ == clock::time_point{}) begin_ = clock::now();
  const auto limit = comm_.options().timeout;
  if (limit.count() > 0 && clock::now() - begin_ > limit)
    throw Error(
        ErrorCode::timeout,
        fmt::format("{}, {}: no answer in {:.3g} s; check that every rank still runs and calls MPI now and then", call_,
                    services::describe(comm_), std::chrono::duration<double>(limit).count()));
  if (!polls_again) Backoff::sleep();
}

}  // namespace tutti::detail::server
