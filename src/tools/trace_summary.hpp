// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tools/trace_file.hpp"

namespace tutti::tools {

/// The power of 2 that is no smaller; 0 for 0.
[[nodiscard]] std::uint64_t size_class(std::uint64_t bytes);

/// Where the time of a traced job went. Seconds; slices come in the order of time.
class TraceSummary {
 public:
  enum class Reason : std::uint8_t { collective, late_sender, late_receiver };

  struct Operation {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;  ///< in calls and in waits for their requests, over all ranks
    double longest = 0;
  };
  /// Name, size class, path.
  using OperationKey = std::tuple<std::string, std::uint64_t, std::string>;

  struct Rank {
    double begin = 0;
    double end = 0;
    double in_calls = 0;  ///< calls inside calls count once
    double covered = 0;   ///< until when
    bool has_begun = false;
    bool ended = true;       ///< it has called MPI_Finalize
    std::uint64_t lost = 0;  ///< records
    [[nodiscard]] double whole() const { return end - begin; }
    [[nodiscard]] double outside() const { return whole() - in_calls; }
  };

  struct Wait {
    std::uint64_t calls = 0;
    double seconds = 0;
  };
  /// Rank that waits, rank that it waits for, reason.
  using WaitKey = std::tuple<int, int, Reason>;

  struct RangeTime {
    std::uint64_t calls = 0;
    std::map<int, double> seconds{};  ///< by rank
  };

  void add(const TraceSlice& slice);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;

  [[nodiscard]] const std::map<OperationKey, Operation>& operations() const { return operations_; }
  [[nodiscard]] const std::map<int, Rank>& ranks() const { return ranks_; }
  [[nodiscard]] const std::map<WaitKey, Wait>& waits() const { return waits_; }
  [[nodiscard]] const std::map<std::string, RangeTime>& ranges() const { return ranges_; }
  /// The longest waits, the longest first.
  [[nodiscard]] const std::vector<TraceSlice>& worst() const { return worst_; }
  /// The time outside of calls of the rank that has most, over the mean; 1 is balanced.
  [[nodiscard]] double imbalance() const;
  /// Seconds that a rank has waited for others.
  [[nodiscard]] double waited(int rank) const;
  /// Seconds that others have waited for a rank.
  [[nodiscard]] double caused(int rank) const;

 private:
  void add_call(const TraceSlice& slice);
  void add_wait(const TraceSlice& slice);

  std::map<OperationKey, Operation> operations_;
  std::map<int, Rank> ranks_;
  std::map<WaitKey, Wait> waits_;
  std::map<std::string, RangeTime> ranges_;
  std::vector<TraceSlice> worst_;
};

[[nodiscard]] std::string_view reason_name(TraceSummary::Reason reason);

}  // namespace tutti::tools
