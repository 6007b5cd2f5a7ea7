// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/recording.hpp"
#include "replay/replay.hpp"
#include "replay/replayed_call.hpp"
#include "replay/session.hpp"
#include "team.hpp"

namespace tutti::commbench::replay {

/// What the replays of a trace took on this rank.
struct Played {
  std::vector<double> held{};  ///< seconds that each step held the program, the median of the replays
  double length = 0;           ///< seconds of the whole trace, the median
  std::uint64_t checked = 0;   ///< calls whose results were verified
  std::uint64_t wrong = 0;
  std::string fault{};  ///< the first of them
};

/// Makes the calls of a trace again, in their order, with the time between them. Collective.
class Player {
 public:
  Player(const Session& session, const Recording& recording, const ReplaySettings& settings);
  [[nodiscard]] Played play();

 private:
  /// A call with buffers that is not in use.
  struct Idle {
    std::unique_ptr<ReplayedCall> call{};
    std::uint64_t used = 0;  ///< when it was used last
  };

  void number_calls();
  void number_shapes();
  void make_persistent();
  [[nodiscard]] std::unique_ptr<ReplayedCall> take(std::size_t call);
  void give_back(std::size_t call, std::unique_ptr<ReplayedCall>&& used);
  void free_oldest();
  [[nodiscard]] std::vector<double> pass(bool is_checked);
  void pause(double until) const;
  /// Gives when it began and ended.
  [[nodiscard]] std::pair<double, double> make_step(const Step& step, bool is_checked);
  void settle() const;
  void verify(std::size_t call, const ReplayedCall& made);
  [[nodiscard]] std::vector<std::uint64_t> iterations(std::size_t call) const;

  const Session& session_;
  const Recording& recording_;
  const ReplaySettings& settings_;
  Team team_;
  std::optional<DeviceStream> stream_{};
  std::vector<std::vector<std::uint64_t>> numbers_{};  ///< of each call: its own, or those of its messages
  std::vector<std::size_t> shapes_{};                  ///< calls with equal numbers differ in their data only
  std::map<std::size_t, std::vector<Idle>> idle_{};    ///< by shape
  std::vector<std::unique_ptr<ReplayedCall>> persistent_{};
  std::vector<std::unique_ptr<ReplayedCall>> running_{};  ///< by call
  std::uint64_t pass_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t buffer_bytes_ = 0;
  double late_ = 0;  ///< when this rank begins, after the first of all
  Played played_{};
};

}  // namespace tutti::commbench::replay
