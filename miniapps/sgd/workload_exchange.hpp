// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_method.hpp"
#include "workload_shapes.hpp"

namespace sgd {

/// Gradients of float32 and how they are averaged over the ranks: one for each Method, all told alike. A step is
/// ready(i) for each parameter in reverse order of registration, progress() now and then, finish().
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Where backward writes the gradient of parameter i in this step.
  [[nodiscard]] virtual std::span<float> gradient(std::size_t i) = 0;
  virtual void ready(std::size_t i) { (void)i; }
  virtual void progress() {}
  /// Whether progress() does anything: else nobody need be woken for it.
  [[nodiscard]] virtual bool wants_progress() const { return false; }
  /// Collective; blocking. Afterwards all gradients are averages, but with Method none.
  virtual void finish() {}
  /// Nothing is left to be found out by steps: bucket sizes, hooks that begin later.
  [[nodiscard]] virtual bool settled() const { return true; }
  [[nodiscard]] virtual std::size_t buckets() const { return 0; }
  [[nodiscard]] virtual std::size_t bucket_bytes() const { return 0; }
  /// Bytes that this rank gives to reductions in a step.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Parameters by bucket; empty where there are none.
  [[nodiscard]] virtual std::string map() const { return {}; }
};

/// Collective over `comm`, which outlives the result; blocking.
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(const tutti::Communicator& comm, const Method& method,
                                                      const std::vector<Shape>& shapes);

}  // namespace sgd
