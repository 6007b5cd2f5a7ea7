// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

namespace tutti::schedules {

/// What is wrong with a schedule.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tutti::schedules
