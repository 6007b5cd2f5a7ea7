// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_flags.hpp"

namespace sgd {

/// Milliseconds a step by one method.
struct Figures {
  Method method;
  double forward = 0;
  double backward = 0;
  double exposed = 0;  ///< communication that nothing hides
  double update = 0;
  double step = 0;
  std::size_t buckets = 0;       ///< of a workload
  std::size_t bucket_bytes = 0;  ///< the limit in use; of a workload
  double bytes_per_step = 0;
  std::size_t wrong = 0;  ///< averages of a workload that are wrong
};

enum class Growth : std::uint8_t {
  weak,   ///< every rank has as much to do, however many there are
  strong  ///< all ranks together have
};

/// What a study measures.
class Subject {
 public:
  virtual ~Subject() = default;
  /// "resnet50 (102 MB of gradients, backward 400 ms, sleep)".
  [[nodiscard]] virtual std::string title() const = 0;
  /// Collective over `comm`; blocking; the same on all ranks. A method that the subject does not have gives none.
  [[nodiscard]] virtual std::vector<Figures> measure(const tutti::Communicator& comm,
                                                     const std::vector<Method>& methods, Growth growth) = 0;
};

/// --workload, or the task that would be trained. Throws as make_source.
[[nodiscard]] std::unique_ptr<Subject> make_subject(const WorkloadFlags& flags, const Options& options);

}  // namespace sgd
