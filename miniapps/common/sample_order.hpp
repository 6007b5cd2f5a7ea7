// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::miniapps {

/// How the training samples of a file are shuffled.
enum class Shuffle {
  none,         ///< in the order of the file
  total,        ///< the reference's order by numpy, one for all epochs; takes 4 bytes a sample
  day,          ///< as total, within each day
  epoch,        ///< anew in each epoch; computed, takes no memory
  batches,      ///< whole batches, anew in each epoch; their samples follow each other in the file
  interleaved,  ///< each batch has samples of all stretches of the file, which are read one after the other
};

/// Equally long stretches of a file in Shuffle::interleaved: on R ranks each reads 24 / R of them, or one more.
inline constexpr std::uint64_t interleaved_stretches = 24;

/// Samples that follow one another in a file.
struct SampleRun {
  std::uint64_t first = 0;
  std::size_t count = 0;
};

/// "total", "day", "none", "epoch", "batches" or "interleaved"; throws tutti::Error (invalid_argument) for another
/// name.
[[nodiscard]] Shuffle shuffle_kind(const std::string& name);

/// Throws tutti::Error (invalid_argument) for Shuffle::day, which is for data that are cut in days as they are read.
[[nodiscard]] Shuffle without_days(Shuffle shuffle);

/// The order of the training samples of a file: a function of seed and epoch, the same on all ranks. Local.
class SampleOrder {
 public:
  /// `days`: the first sample of each day, and the end of the last one. Throws tutti::Error (not_supported), naming the
  /// remedy, for more samples than an order by numpy can number.
  SampleOrder(Shuffle shuffle, std::uint32_t seed, std::span<const std::uint64_t> days);

  void begin_epoch(std::uint64_t epoch) { epoch_ = epoch; }
  /// The number in the file of the first sample of batch `k`, where batches are runs of the file.
  [[nodiscard]] std::uint64_t first_of_batch(std::uint64_t k, std::size_t batch_size) const;
  /// Whether a batch consists of a few runs of the file.
  [[nodiscard]] bool has_runs() const {
    return shuffle_ == Shuffle::none || shuffle_ == Shuffle::batches || shuffle_ == Shuffle::interleaved;
  }
  /// The run that begins with sample `begin` of batch `k`, and ends before sample `end` of it.
  [[nodiscard]] SampleRun run(std::uint64_t k, std::size_t batch_size, std::size_t begin, std::size_t end) const;
  /// The numbers in the file of the samples at places first, first + 1, ... of the epoch, where there are no runs.
  void number(std::uint64_t first, std::span<std::uint64_t> numbers) const;

 private:
  Shuffle shuffle_;
  std::uint32_t seed_;
  std::uint64_t count_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> kept_;  ///< total and day
};

}  // namespace tutti::miniapps
