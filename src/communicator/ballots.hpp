// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "call/context.hpp"

namespace tutti::detail {

/// Where ranks that meet after a death write their answers, each once. A word stays when its rank has ended.
class Ballots {
 public:
  Ballots() = default;
  virtual ~Ballots() = default;
  Ballots(const Ballots&) = delete;
  Ballots& operator=(const Ballots&) = delete;

  static constexpr int most_questions = 32;

  /// word: not 0.
  virtual void write(int question, std::uint64_t word) = 0;
  /// 0: the rank has not answered.
  [[nodiscard]] virtual std::uint64_t read(int question, int rank) = 0;
  /// All ranks that live on have them.
  virtual void close() noexcept {}

  /// In shared memory, if each rank sees the end of all others by itself; otherwise out of band. Equal on all ranks.
  /// Throws Error(not_supported) if there is neither.
  [[nodiscard]] static std::unique_ptr<Ballots> make(Context& context);
};

}  // namespace tutti::detail
