// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call/machine.hpp"
#include "planner/type_class.hpp"

namespace tutti::detail::tuning {

/// The measurements of one kind of call at one size: the slowest rank's time per candidate, in seconds.
struct Cell {
  Operation operation = Operation::barrier;
  CallKind kind = CallKind::blocking;
  TypeClass type{};
  std::size_t bytes = 0;  ///< Signature::count elements; 0 for calls whose counts no rank knows
  std::map<std::string, double, std::less<>> seconds{};

  friend bool operator==(const Cell&, const Cell&) = default;
};

[[nodiscard]] std::size_t bytes_of(const Signature& signature);
/// Returns true if two cells are of the same kind of call and size, whatever their measurements.
[[nodiscard]] bool is_same_place(const Cell& a, const Cell& b);

/// The measurements of a machine: time by operation, call kind, datatype class, size and candidate, for one number of
/// ranks on one topology, in seconds. Immutable, and equal on all ranks of the communicator that uses it.
class Table final : public Measurements {
 public:
  Table() = default;
  explicit Table(const std::vector<Cell>& cells, const std::optional<Links>& links = std::nullopt);

  /// The measured time of a candidate ("shm:slots", "mpi:ring", "native") at the size of a call, interpolated between
  /// the two nearest measured sizes, in seconds. Returns nothing if the neighbours are too far: both must be within a
  /// factor of 16, and beyond the smallest or largest measured size the only neighbour within a factor of 4. A datatype
  /// that was not measured uses the nearest type of its arithmetic class. Slow: for plans, not for calls.
  [[nodiscard]] std::optional<double> seconds(const Signature& signature, std::string_view candidate) const override;

  [[nodiscard]] const Links* links() const override { return links_ ? &*links_ : nullptr; }

  [[nodiscard]] std::size_t cell_count() const { return cell_count_; }

 private:
  struct Point {
    std::size_t bytes = 0;
    double seconds = 0;
  };
  using Curve = std::vector<Point>;  ///< by size, ascending
  using Curves = std::map<std::string, Curve, std::less<>>;
  using CurvesByWidth = std::map<std::size_t, Curves>;

  static std::optional<double> read(const Curve& curve, std::size_t bytes);
  [[nodiscard]] CurvesByWidth& curves_of(Operation operation, CallKind kind, Arithmetic arithmetic);
  [[nodiscard]] const CurvesByWidth& curves_of(Operation operation, CallKind kind, Arithmetic arithmetic) const;

  static constexpr std::size_t operations = 16;
  static constexpr std::size_t kinds = 3;
  std::array<CurvesByWidth, operations * kinds * arithmetic_classes> curves_{};
  std::optional<Links> links_{};
  std::size_t cell_count_ = 0;
};

}  // namespace tutti::detail::tuning
