// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "options.hpp"
#include "phases.hpp"
#include "tensor.hpp"

namespace sgd {

/// How the replicas of a model are kept together: what is communicated, when, and how parameters are updated. A step
/// is: begin_step(), then for each pass over a part of the batch begin_pass() and backward with ready(), then
/// finish(), update(). All ranks call alike; each call may be collective. Time spent goes to the timer's stages. The
/// tensors and the communicator outlive it.
template <typename Float>
class Synchronizer {
 public:
  virtual ~Synchronizer() = default;

  /// Before forward.
  virtual void begin_step(StepTimer& timer) { (void)timer; }
  /// `last`: the gradients of this pass are those to be reduced; before, they are added up by the caller. With
  /// Options::reproducible each pass is a block, whose gradients are reduced with those of all others.
  virtual void begin_pass(bool last) { (void)last; }
  /// The gradient of tensor i is final in this pass.
  virtual void ready(std::size_t i, StepTimer& timer) {
    (void)i;
    (void)timer;
  }
  /// Backward of the last pass has ended.
  virtual void finish(StepTimer& timer) = 0;
  virtual void update(double learning_rate, StepTimer& timer) = 0;

  /// For a rank without samples in a step that others may still have: takes part with zeros; false when none has one.
  [[nodiscard]] virtual bool join(StepTimer& timer) {
    (void)timer;
    return false;
  }
  /// What gradients are divided by: the samples of all ranks, so that the sum over ranks is the mean, or this rank's.
  [[nodiscard]] virtual bool local_mean() const { return false; }
  /// Brings replicas that differ together (their mean, the server's values). At the end of training.
  virtual void settle(StepTimer& timer) { (void)timer; }

  /// Bytes that this rank gives to communication in a step.
  [[nodiscard]] virtual double bytes_per_step() const = 0;
  /// More about it, as lines for a report; may be empty.
  [[nodiscard]] virtual std::string details() const { return {}; }

  /// State that only this rank has; a checkpoint keeps it by rank.
  [[nodiscard]] virtual std::vector<std::byte> save_local() const { return {}; }
  virtual void load_local(std::span<const std::byte> state) { (void)state; }
  /// State that all ranks have alike, or that can be gathered. Collective.
  [[nodiscard]] virtual std::vector<std::byte> save_shared() const { return {}; }
  virtual void load_shared(std::span<const std::byte> state) { (void)state; }
  /// Whether the parameters themselves differ between ranks.
  [[nodiscard]] virtual bool replicas_differ() const { return false; }
  /// Whether save_local() matters, so that a checkpoint needs the same number of ranks.
  [[nodiscard]] virtual bool has_local_state() const { return false; }
};

/// The synchronizer of options.mode. Parameters become those of rank 0. Collective; blocking.
template <typename Float>
[[nodiscard]] std::unique_ptr<Synchronizer<Float>> make_synchronizer(const tutti::Communicator& comm,
                                                                     const Options& options,
                                                                     const std::vector<Tensor<Float>>& tensors);

extern template std::unique_ptr<Synchronizer<float>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                       const std::vector<Tensor<float>>&);
extern template std::unique_ptr<Synchronizer<double>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                        const std::vector<Tensor<double>>&);

}  // namespace sgd
