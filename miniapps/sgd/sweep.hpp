// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_subject.hpp"

namespace sgd {

/// What buckets of one size give.
struct SweepPoint {
  std::size_t bucket_bytes = 0;  ///< the limit
  bool is_chosen = false;        ///< the reducer found it by measurement
  Figures figures;
};

struct Sweep {
  std::vector<SweepPoint> points;  ///< by size; the chosen one last
  std::vector<Figures> levels;     ///< what has no buckets: flat
};

/// 0.25 to 100 MiB.
[[nodiscard]] std::vector<std::size_t> sweep_sizes();

/// Overlap with the hook of `base`, by each size and by measurement; each is held against steps without communication
/// that are run in turn with it. Collective over `comm`; blocking.
[[nodiscard]] Sweep measure_sweep(const tutti::Communicator& comm, Subject& subject, const Method& base);

[[nodiscard]] std::string sweep_text(const Sweep& sweep);

}  // namespace sgd
