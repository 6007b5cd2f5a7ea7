// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

namespace tutti::detail::checkpoint {

/// What an incremental save and those who add to its part tell each other.
struct Increment {
  Increment() = default;
  ~Increment() { end(0); }
  Increment(const Increment&) = delete;
  Increment& operator=(const Increment&) = delete;

  /// Tells that the save has ended: the identity of the checkpoint, 0 if there is none.
  void end(std::uint64_t identity) {
    for (const auto& listener : std::exchange(at_end, {})) listener(identity);
  }

  std::uint64_t base = 0;    ///< identity of the checkpoint that the save adds to; 0: the save is full
  std::uint64_t number = 0;  ///< of the save, in the names of its sections
  bool is_refused = false;   ///< somebody cannot add to that checkpoint, so the save must be full
  std::vector<std::function<void(std::uint64_t)>> at_end{};
};

/// Fills in the checkpoint that the folder's next increment adds to. None if there is no whole one, or if its
/// increments have as many bytes as the full save.
void find_base(const std::filesystem::path& folder, Increment& increment);

}  // namespace tutti::detail::checkpoint
