// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "diagnosis/recorder.hpp"

namespace tutti::detail {

/// A communicator's side of the flight recorder of its process.
class FlightLog {
 public:
  FlightLog() = default;
  ~FlightLog() {
    if (recorder_ != nullptr) recorder_->remove_communicator(row_);
  }
  FlightLog(const FlightLog&) = delete;
  FlightLog& operator=(const FlightLog&) = delete;

  /// mark: equal on all ranks of the communicator, and no other's.
  void open(std::uint64_t mark, int rank, int size, std::string_view name) noexcept {
    recorder_ = flight::Recorder::instance();
    if (recorder_ != nullptr) row_ = recorder_->add_communicator(mark, rank, size, name);
    last_.communicator = mark;
    last_.rank = rank;
    last_.size = size;
  }
  /// Null if nothing is recorded.
  [[nodiscard]] flight::Recorder* recorder() const noexcept { return recorder_; }
  [[nodiscard]] std::uint32_t row() const noexcept { return row_; }
  /// The number of the last collective that was called; 0: none, or nothing is recorded.
  [[nodiscard]] std::uint32_t sequence() const noexcept { return sequence_; }
  /// The number of the collective that is called now.
  [[nodiscard]] std::uint32_t next_sequence() noexcept {
    recorder_->count(row_, ++sequence_);
    return sequence_;
  }
  /// Whether collectives are to write the checksums of their data.
  [[nodiscard]] bool has_checksums() const noexcept { return recorder_ != nullptr && recorder_->has_checksums(); }
  /// The next call with checksums, which gives these data; the n-th run of a persistent one.
  [[nodiscard]] const flight::Summed& next_sums(const flight::Digest& given, std::uint32_t run) noexcept {
    last_.follow(given, run);
    return last_;
  }

 private:
  flight::Recorder* recorder_ = nullptr;
  std::uint32_t row_ = 0;
  std::uint32_t sequence_ = 0;
  flight::Summed last_{};
};

}  // namespace tutti::detail
