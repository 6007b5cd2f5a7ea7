// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <thread>
#include <tutti/error.hpp>

#include "training/parameter_server_access.hpp"

namespace tutti::detail::server {

void RowWait::pause() {
  using clock = std::chrono::steady_clock;
  const bool polls_again = backoff_.pause();
  if (polls_again && backoff_.polls() % 256 != 0) return;
  comm_.check_aborted();
  if (begin_ == clock::time_point{}) begin_ = clock::now();
  const auto limit = comm_.options.timeout;
  if (limit.count() > 0 && clock::now() - begin_ > limit)
    throw Error(ErrorCode::timeout,
                fmt::format("{}, {}: no answer in {:.3g} s; does every rank still run, and call MPI now and then?",
                            what_, comm_.describe(), std::chrono::duration<double>(limit).count()));
  if (!polls_again) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace tutti::detail::server
