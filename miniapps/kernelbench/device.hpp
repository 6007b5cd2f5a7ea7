// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <tutti/device.hpp>
#include <vector>

#include "benchmarks.hpp"
#include "common/device/array.hpp"
#include "measure.hpp"

/// Measurements on the device: what is between two readings of the clock is a queue of launches on one stream.
namespace tutti::kernelbench {

template <typename T>
using DeviceArray = miniapps::device::Array<T>;

/// A stream of this process' device, by rank in the node modulo the number of devices.
class Queue {
 public:
  explicit Queue(int rank);

  [[nodiscard]] Stream stream() const { return stream_.stream(); }
  void wait() const { stream_.wait(); }

  template <typename T>
  [[nodiscard]] DeviceArray<T> upload(const std::vector<T>& values) const {
    DeviceArray<T> there(values.size());
    upload_bytes(there.data(), values.data(), there.bytes());
    return there;
  }
  void upload_bytes(void* to, const void* from, std::size_t bytes) const;
  void clear(void* to, std::size_t bytes) const { clear_bytes(to, bytes, stream()); }
  void copy(void* to, const void* from, std::size_t bytes) const { copy_bytes(to, from, bytes, stream()); }

  /// As measure(), each run queued `launches` times: seconds of one.
  [[nodiscard]] std::vector<double> measure_queued(const std::vector<Candidate>& candidates, int rounds,
                                                   int launches = 10) const;

 private:
  int device_;  ///< current before the stream is made
  DeviceStream stream_{};
};

/// Why this machine or this build cannot measure on a device; nothing where it can.
[[nodiscard]] std::optional<std::string> reason_without_device();

/// Bytes a second of a large copy, read and written bytes counted: what every share below is of.
[[nodiscard]] double copy_bandwidth(const Queue& queue, int rounds);

nlohmann::json run_device_embedding(const EmbeddingSettings& settings, int rank);
nlohmann::json run_device_combine(const CombineSettings& settings, int rank);
/// The host's time for launches without work, and for the questions that go with them.
nlohmann::json run_device_launches(int rounds, int rank);
nlohmann::json run_device_interaction(const InteractionSettings& settings, int rank);

}  // namespace tutti::kernelbench
