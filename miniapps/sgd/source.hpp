// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/data_source.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace sgd {

using tutti::miniapps::Split;

/// Samples by number. Every rank has its own source; those of the same options hold the same samples. Local; reading
/// changes nothing.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Labels are 0 to classes() - 1; 0: they are numbers to be predicted.
  [[nodiscard]] virtual std::size_t classes() const = 0;
  [[nodiscard]] virtual bool sparse() const = 0;
  [[nodiscard]] virtual std::uint64_t samples(Split split) const = 0;
  /// Adds sample k to `rows`.
  virtual void append(Split split, std::uint64_t k, Rows& rows) const = 0;
  /// One line for reports.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// The data that the options name. Throws tutti::Error naming flag, or file and line.
[[nodiscard]] std::unique_ptr<Source> make_source(const Options& options);

}  // namespace sgd
