// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>

#include "backends/nccl/table.hpp"

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
  [[nodiscard]] const detail::nccl::Table& table() const { return *table_; }
  [[nodiscard]] detail::nccl::CommHandle handle() const { return handle_; }
  /// Throws std::runtime_error with NCCL's text.
  void check(detail::nccl::Result result, const char* what) const;

 private:
  [[nodiscard]] std::string initialise(const Communicator& comm);

  const detail::nccl::Table* table_ = nullptr;
  detail::nccl::CommHandle handle_ = nullptr;
  std::string why_not_{};
};

}  // namespace tutti::commbench
