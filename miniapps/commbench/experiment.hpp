// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "beside.hpp"
#include "buffers.hpp"
#include "call.hpp"
#include "device_timer.hpp"
#include "measurement.hpp"
#include "raw_nccl.hpp"
#include "settings.hpp"
#include "team.hpp"

namespace tutti::commbench {

/// What is made once for all experiments.
struct Equipment {
  std::optional<Evictor> evictor{};
  RawNccl nccl{};
  std::unique_ptr<Computation> computation{};
  std::vector<Communicator> duplicates{};  ///< of which calls go beside those of the first communicator
};

/// One algorithm at one point: makes and verifies calls. Collective, as are its members but the constructor's checks.
class Experiment {
 public:
  /// Throws NotApplicable, and tutti::Error where an algorithm cannot do this call.
  Experiment(const Communicator& comm, const Settings& settings, const Point& point, const Shape& shape,
             const std::string& algorithm, Equipment& equipment);

  /// Adds timed iterations for `budget` seconds to `result`, and what the checks found.
  void measure(double budget, int min_iterations, Measurement& result);

  /// Whether calls are queued on a stream.
  [[nodiscard]] bool is_queued() const;
  /// Calls queued behind one another, for about `budget` seconds; the last result is verified into `result`.
  void measure_queued(double budget, Measurement& result);

  /// How much of the communication hides behind computing, with and without tests, and with calls of the host MPI.
  [[nodiscard]] Overlap measure_overlap(double pure, double budget);
  /// The call beside the settings' computation; the last result is verified into `result`.
  void measure_together(double pure, double budget, Measurement& result);

 private:
  void make_calls();
  [[nodiscard]] std::unique_ptr<MeasuredCall> make_call(const Communicator& comm, std::size_t buffer);
  [[nodiscard]] std::size_t slots() const { return buffers_.slots() / communicators(); }
  [[nodiscard]] std::size_t communicators() const { return 1 + equipment_.duplicates.size(); }
  void fill(std::size_t slot, std::uint64_t iteration);
  void settle() const;
  void add_checks(Measurement& result);
  [[nodiscard]] double timed_call(std::size_t slot);
  void warm_up();
  [[nodiscard]] std::vector<double> batch(std::size_t iterations);
  [[nodiscard]] std::vector<double> repeated_batch(std::size_t iterations);
  [[nodiscard]] std::vector<double> rotated_batch(std::size_t iterations);
  void verify(std::size_t slot, std::uint64_t iteration);
  void verify_barrier();
  [[nodiscard]] std::size_t batch_size(double budget) const;
  /// What is called between two parts of the computing.
  enum class Between : std::uint8_t { tests, probes };
  /// Seconds of one call with computing.
  struct Spent {
    double total = 0;
    double computed = 0;
    double waited = 0;
  };
  [[nodiscard]] Spent overlapped(double compute, Between between, int times);
  [[nodiscard]] double compute_alone();
  [[nodiscard]] std::size_t fitting_size(double seconds);
  /// One call with the computation in overlap_tests + 1 parts and a test behind each but the last.
  [[nodiscard]] Together together_once();
  /// The medians of the slowest rank.
  [[nodiscard]] Spent overlapped_often(double compute, Between between, int times, int iterations);

  const Communicator& comm_;
  const Settings& settings_;
  Point point_;
  const Shape& shape_;
  World world_;
  std::string algorithm_;
  Team team_;
  Equipment& equipment_;
  Shape buffer_shape_;
  Buffers buffers_;                       ///< those of a slot one behind the other, one for each communicator
  std::optional<DeviceStream> stream_{};  ///< of calls on device memory
  std::vector<std::unique_ptr<MeasuredCall>> calls_;
  std::uint64_t iteration_ = 0;
  double estimate_ = 0;
  double entered_ = 0;
  double left_ = 0;
  std::uint64_t checked_ = 0;
  std::uint64_t wrong_ = 0;
  std::string fault_;
};

}  // namespace tutti::commbench
