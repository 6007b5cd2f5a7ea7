// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/communicator.hpp>
#include <tutti/datatype.hpp>
#include <tutti/detail/fixed_point.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

#include "kernels/exact_expansion.hpp"

namespace tutti::detail {

/// The sums of one call: what this rank adds to each, and what becomes of the total. Refers to the caller's memory.
class ExactWork {
 public:
  /// kind: of the values; the form of the messages follows from it.
  ExactWork(DatatypeKind kind, std::size_t sums) : kind_(kind), sums_(sums) {}
  virtual ~ExactWork() = default;
  ExactWork(const ExactWork&) = delete;
  ExactWork& operator=(const ExactWork&) = delete;

  [[nodiscard]] DatatypeKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::size_t sums() const noexcept { return sums_; }

  /// Adds this rank's part of sum i.
  virtual void fill(std::size_t i, FixedPoint& sum) const = 0;
  /// The same for a part that is quickly added. Returns false if it is not.
  virtual bool fill(std::size_t /*i*/, kernels::exact::Expansion& /*sum*/) const { return false; }
  /// This rank's parts if each is one number, or null.
  [[nodiscard]] virtual const double* numbers() const noexcept { return nullptr; }
  /// Takes the total of all ranks.
  virtual void finish(std::size_t i, FixedPoint& total) = 0;
  /// Where the totals go if those rounded to float64 are enough, or null.
  [[nodiscard]] virtual double* rounded() noexcept { return nullptr; }

 private:
  DatatypeKind kind_;
  std::size_t sums_;
};

/// Sum over all ranks. On few ranks one message of short forms, and a second one, of words, where a sum is a misfit on
/// some rank; else one of words.
void run_exact(const Communicator& comm, ExactWork& work, const Options& options);
[[nodiscard]] Request prepare_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options);
/// The same by one message of words: a second one would have no place in the order of calls.
[[nodiscard]] Request start_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options);

}  // namespace tutti::detail
