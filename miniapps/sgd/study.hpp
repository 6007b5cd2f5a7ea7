// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/communicator.hpp>
#include <vector>

namespace CLI {
class App;
}

namespace sgd {

struct Options;

/// Something that tutti-sgd does instead of training, chosen by a flag of its own.
class Study {
 public:
  virtual ~Study() = default;
  /// Adds its flags, in groups of their own, to the program's. Local.
  virtual void add_flags(CLI::App& app) = 0;
  /// Whether the parsed flags ask for it.
  [[nodiscard]] virtual bool selected() const = 0;
  /// Throws tutti::Error (invalid_argument), naming flags, where they contradict each other. Local; asked of every
  /// study, selected or not.
  virtual void validate(const Options& options) const { (void)options; }
  /// Collective over `comm`; blocking. Rank 0 prints. Throws as run_application.
  virtual void run(const tutti::Communicator& comm, const Options& options) = 0;
};

/// --scaling, --breakdown, --sweep-buckets, and --workload alone; the first that is selected is run. They share their
/// flags, which the first one adds.
[[nodiscard]] std::vector<std::unique_ptr<Study>> make_studies();

}  // namespace sgd
