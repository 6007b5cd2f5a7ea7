// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "collectives/packing.hpp"
#include "operation/buffer_use.hpp"

namespace tutti::detail {

/// The checksums of the data of one collective, which TUTTI_CHECKSUM asks for: writes to the flight recorder those of
/// what this rank gives, before each run of the call, and of what it has taken, after it. Local.
class Checksums final : public Packing {
 public:
  Checksums(Context& comm, BufferUses&& data);

  void sum_given(const flight::Note& note) noexcept;
  void sum_taken(const flight::Note& note) const noexcept;

  /// Names the execution that has the note of each run, and owns this object.
  void follow(const Execution& noted) noexcept { noted_ = &noted; }
  void pack() override;
  void unpack() override;
  void give_up() noexcept override {}

 private:
  Context& comm_;
  BufferUses data_;
  const Execution* noted_ = nullptr;
  std::uint32_t runs_ = 0;
};

}  // namespace tutti::detail
