// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/nccl/launch.hpp"

namespace tutti::detail::nccl {

/// Collects NCCL calls from its construction to end(), which launches them together. Nothing is in progress between.
class Group {
 public:
  explicit Group(Comm& comm) : comm_(comm) { take(comm.table().group_start(), "ncclGroupStart"); }
  /// After a failure inside the group NCCL must stop collecting.
  ~Group() {
    if (is_open_) (void)comm_.table().group_end();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void take(Result result, const char* name) const {
    if (result != Result::in_progress) comm_.require(result, name);
  }
  [[nodiscard]] LaunchingCall end() {
    is_open_ = false;
    return {comm_.table().group_end(), "ncclGroupEnd"};
  }

 private:
  Comm& comm_;
  bool is_open_ = true;
};

}  // namespace tutti::detail::nccl
