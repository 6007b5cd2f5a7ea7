// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/recording.hpp"
#include "replay/records.hpp"
#include "replay/timeline.hpp"
#include "replay/torch_names.hpp"

namespace tutti::commbench::replay {

/// A call as traces of PyTorch and PARAM have it. Peers are ranks of the job.
struct TorchRecord {
  std::string name{};
  std::string type{};
  TorchSizes sizes{};
  std::string group{};         ///< the name of its communicator
  std::vector<int> members{};  ///< empty: not known
  std::size_t ranks = 0;       ///< of its communicator; 0: not known
  int root = 0;                ///< a rank of the communicator
  int peer = -1;               ///< of a message
  int tag = 0;                 ///< of a message
  std::string request{};       ///< names the call that a wait is for
  double begin = 0;            ///< seconds
  std::optional<double> length{};
};

/// Collects the calls of one rank. A call whose request is waited for is nonblocking, any other collective blocking.
/// Messages are nonblocking, because these traces do not tell which sends and receives belong together.
class TorchCalls {
 public:
  TorchCalls(const char* format, int rank, int ranks);

  /// A call on a communicator without this rank is passed over. Throws what is wrong with the record.
  void add(const Record& source, TorchRecord&& call);
  /// A collective that takes a call's request has taken so long, whatever its record says.
  void set_length(std::size_t step, double length);
  [[nodiscard]] std::size_t steps() const { return recording_.steps.size(); }
  void leave_out(const std::string& name) { ++recording_.left_out[name]; }

  /// has_times: whether the records tell when they began.
  [[nodiscard]] Recording take(bool has_times);

 private:
  [[nodiscard]] std::size_t ranks_of(const TorchRecord& call) const;
  [[nodiscard]] std::optional<std::size_t> group_of(const TorchRecord& call);
  void add_message(const Record& source, const TorchRecord& call, bool is_recv);
  void end(const TorchRecord& wait);
  void start(RecordedCall&& recorded, const TorchRecord& call);
  [[nodiscard]] Datatype type_of(const Record& source, const TorchRecord& call) const;

  int rank_;
  int ranks_;
  Recording recording_{};
  Timeline timeline_;
  std::map<Group, std::size_t> groups_{};
  std::map<std::string, std::deque<std::size_t>> open_{};  ///< calls by their requests, oldest first
  std::vector<bool> is_waited_for_{};                      ///< by call
  std::vector<std::optional<double>> lengths_{};           ///< by call
};

}  // namespace tutti::commbench::replay
