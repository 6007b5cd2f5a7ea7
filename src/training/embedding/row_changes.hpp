// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/checkpoint/increment.hpp"

namespace tutti::detail {

/// One bit for each row of a piece.
class RowBits {
 public:
  RowBits() = default;
  explicit RowBits(std::size_t rows) : words_((rows + bits - 1) / bits) {}
  [[nodiscard]] bool has(std::size_t row) const { return (words_[row / bits] >> row % bits & 1U) != 0; }
  void add(std::size_t row) { words_[row / bits] |= std::uint64_t{1} << row % bits; }
  /// Adds the rows of the same piece.
  void add(const RowBits& other);
  /// In ascending order.
  [[nodiscard]] std::vector<std::uint32_t> rows() const;

 private:
  static constexpr std::size_t bits = 64;
  std::vector<std::uint64_t> words_;
};

/// Those rows of a piece that an increment saves.
struct ChosenRows {
  RowBits bits;
  std::vector<std::uint32_t> rows;  ///< the same, in ascending order
};

/// The rows of a collection's pieces that updates have changed since the last incremental save.
class RowChanges : public std::enable_shared_from_this<RowChanges> {
 public:
  /// `rows`: of each piece.
  explicit RowChanges(std::vector<std::size_t> rows);

  /// Notes the rows that the lookups of a batch refer to.
  void note(std::size_t piece, const kernels::TableLookups& lookups, kernels::IndexType type, std::size_t bags);
  /// Hands the noted rows over to a save, and takes them back if it ends without a checkpoint. Refuses, and returns
  /// false, if the save is not to be full and adds to another checkpoint than the last save's.
  [[nodiscard]] bool begin(checkpoint::Increment& save, const std::string& prefix);
  /// The rows of a piece that were handed over.
  [[nodiscard]] std::shared_ptr<const ChosenRows> chosen(std::size_t piece) const { return leaving_[piece]; }

 private:
  void hand_over(bool lists_rows);
  void take_back();
  void end(const checkpoint::Increment* save, std::uint64_t identity);

  std::vector<std::size_t> rows_;
  std::vector<RowBits> changed_;
  std::vector<std::shared_ptr<ChosenRows>> leaving_;
  const checkpoint::Increment* save_ = nullptr;  ///< the one under way
  std::vector<std::string> prefixes_;            ///< of the last save
  std::vector<std::string> next_prefixes_;       ///< of the one under way
  std::uint64_t base_ = 0;                       ///< the checkpoint that the last save has made
};

}  // namespace tutti::detail
