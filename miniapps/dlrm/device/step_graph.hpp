// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "gpu.hpp"

namespace dlrm {

/// A step captured as a CUDA graph, and launched as long as steps are alike. It ends, as all graphs must, before the
/// communicators whose calls it holds.
class StepGraph {
 public:
  explicit StepGraph(const Gpu& gpu) : gpu_(&gpu) {}
  ~StepGraph() { drop(); }
  StepGraph(StepGraph&&) noexcept = default;
  StepGraph& operator=(StepGraph&&) = delete;
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// How a step is done.
  enum class Mode { direct, captured, launched };
  /// Chooses how to do the step with this key: the first one directly, which also prepares everything that a capture
  /// must not do; the second one is captured.
  [[nodiscard]] Mode mode(std::uint64_t key) const;

  /// Captures what `enqueue` puts on the stream, then launches it.
  void capture(std::uint64_t key, const std::function<void()>& enqueue);
  void launch();
  /// A step was done directly.
  void note_direct(std::uint64_t key) { seen_ = key; }
  /// Waits for the last launch.
  void drop() noexcept;

 private:
  const Gpu* gpu_;
  tutti::DeviceGraph graph_;
  std::uint64_t key_ = 0;
  std::optional<std::uint64_t> seen_;
};

}  // namespace dlrm
