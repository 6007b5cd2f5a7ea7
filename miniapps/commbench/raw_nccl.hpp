// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>

#include "nccl_table.hpp"

namespace tutti::commbench {

/// An NCCL communicator of this program's own, over all ranks of a Communicator, made as a program without Tutti makes
/// it: blocking. It is made at the first use.
class RawNccl {
 public:
  RawNccl() = default;
  ~RawNccl();
  RawNccl(const RawNccl&) = delete;
  RawNccl& operator=(const RawNccl&) = delete;

  /// Collective; throws NotApplicable, on all ranks, with the reason where NCCL cannot be used.
  void connect(const Communicator& comm);
  [[nodiscard]] const NcclTable& table() const { return *table_; }
  [[nodiscard]] NcclComm handle() const { return handle_; }
  /// Throws std::runtime_error with NCCL's text.
  void check(NcclResult result, const char* what) const;

 private:
  [[nodiscard]] std::string initialise(const Communicator& comm);

  const NcclTable* table_ = nullptr;
  NcclComm handle_ = nullptr;
  std::string why_not_{};
};

}  // namespace tutti::commbench
