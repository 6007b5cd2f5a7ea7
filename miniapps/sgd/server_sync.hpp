// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/parameter_server.hpp>

#include "synchronizer.hpp"

namespace sgd {

/// All parameters lie as rows of a ParameterServer's table. A step pulls them, and pushes this rank's part of the
/// gradient, which is applied at once. With a fence a step, all ranks pull the same values, and the losses are those of
/// the other modes but for the order of sums; without one, ranks go on with what they find (Li et al., OSDI 2014).
class ServerSync : public Synchronizer<float> {
 public:
  ServerSync(const tutti::Communicator& comm, const Options& options, std::vector<Tensor<float>> tensors);

  void begin_step(StepTimer& timer) override;
  void ready(std::size_t i, StepTimer& timer) override;
  void finish(StepTimer& timer) override { (void)timer; }
  void update(double learning_rate, StepTimer& timer) override;
  void settle(StepTimer& timer) override;
  [[nodiscard]] double bytes_per_step() const override;
  [[nodiscard]] std::string details() const override;
  [[nodiscard]] std::vector<std::byte> save_shared() const override;
  void load_shared(std::span<const std::byte> state) override;

 private:
  void pull();
  /// This rank's rows of the table become those of `values`. Collective.
  void fill(std::span<const float> values);

  std::vector<Tensor<float>> tensors_;
  std::size_t fence_every_;
  std::size_t steps_ = 0;
  std::vector<std::int64_t> rows_;  ///< all of them
  std::vector<float> values_;       ///< all tensors, and zeros up to whole rows
  std::unique_ptr<tutti::ParameterServer> server_;
};

}  // namespace sgd
