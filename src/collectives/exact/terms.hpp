// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tutti/exact.hpp>

#include "collectives/exact/work.hpp"
#include "kernels/exact_terms.hpp"

namespace tutti::detail {

/// The call whose arguments are checked, for messages.
struct ExactCall {
  const Communicator* comm;  ///< null: a local one
  std::string_view name;
  MemoryKind memory = MemoryKind::detect;  ///< as the options declare it

  /// Throws an Error that names the call, the argument and the remedy. Tells the other ranks.
  [[noreturn]] void refuse(ErrorCode code, std::string_view argument, std::string_view problem) const;
  void require(bool condition, std::string_view argument, std::string_view problem) const {
    if (!condition) refuse(ErrorCode::invalid_argument, argument, problem);
  }
};

/// What is added up of an element x: the parts of x, those of conj(x) * y, or |x|^2.
enum class ExactForm : std::uint8_t { sum, dot, squares };

/// The sums of the fields of an array, a real one for each part of a field.
class TermsWork final : public ExactWork {
 public:
  /// Throws if the arguments are wrong. y: of a dot product. Writes the totals to `results`, one element a field, which
  /// the call names `results_name`.
  TermsWork(const ExactCall& call, const ExactTerms& terms, ExactForm form, const ConstBuffer* y, const Buffer& results,
            std::string_view results_name);

  void fill(std::size_t i, FixedPoint& sum) const override;
  bool fill(std::size_t i, kernels::exact::Expansion& sum) const override;
  [[nodiscard]] const double* numbers() const noexcept override;
  void finish(std::size_t i, FixedPoint& total) override;
  [[nodiscard]] double* rounded() noexcept override;

  /// Adds up squares of distances from these, one a field, instead.
  void centre(const double* centres) noexcept { centres_ = centres; }
  /// What this rank adds to a field, of real type.
  [[nodiscard]] kernels::exact::Terms terms_of(std::size_t field) const noexcept;

 private:
  void check_count(const ExactCall& call, const ConstBuffer& buffer, const char* name, bool may_share) const;
  void check_factors(const ExactCall& call, const char* name, DatatypeKind wanted, bool may_share) const;
  void check_mask(const ExactCall& call) const;
  void check_results(const ExactCall& call, std::string_view name) const;
  [[nodiscard]] std::size_t parts() const noexcept;
  /// Whether the addends are the values, where they are, as float64.
  [[nodiscard]] bool is_plain() const noexcept;

  ConstBuffer values_;
  std::optional<ConstBuffer> factors_;
  std::optional<ConstBuffer> mask_;
  ExactForm form_;
  Buffer results_;
  std::size_t fields_;
  std::size_t count_ = 0;
  const double* centres_ = nullptr;
};

}  // namespace tutti::detail
