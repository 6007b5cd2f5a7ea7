// SPDX-License-Identifier: BSD-3-Clause
#include "planner/table.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::detail::tuning {
namespace {

constexpr double between_reach = 16;
constexpr double beyond_reach = 4;

double ratio(std::size_t large, std::size_t small) {
  return static_cast<double>(large) / static_cast<double>(std::max<std::size_t>(small, 1));
}

double width_distance(std::size_t a, std::size_t b) { return a > b ? ratio(a, b) : ratio(b, a); }

}  // namespace

std::size_t bytes_of(const Signature& signature) { return signature.count * signature.type.size(); }

bool is_same_place(const Cell& a, const Cell& b) {
  return a.operation == b.operation && a.kind == b.kind && a.type == b.type && a.bytes == b.bytes;
}

Table::Table(const std::vector<Cell>& cells, const std::optional<Links>& links)
    : links_(links), cell_count_(cells.size()) {
  for (const Cell& cell : cells)
    for (const auto& [name, seconds] : cell.seconds)
      curves_of(cell.operation, cell.kind, cell.type.arithmetic)[cell.type.element_bytes][name].push_back(
          {cell.bytes, seconds});
  for (auto& by_width : curves_)
    for (auto& [width, by_name] : by_width)
      for (auto& [name, curve] : by_name)
        std::sort(curve.begin(), curve.end(), [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
}

Table::CurvesByWidth& Table::curves_of(Operation operation, CallKind kind, Arithmetic arithmetic) {
  return curves_[(static_cast<std::size_t>(operation) * kinds + static_cast<std::size_t>(kind)) * arithmetic_classes +
                 static_cast<std::size_t>(arithmetic)];
}

const Table::CurvesByWidth& Table::curves_of(Operation operation, CallKind kind, Arithmetic arithmetic) const {
  return const_cast<Table*>(this)->curves_of(operation, kind, arithmetic);
}

std::optional<double> Table::read(const Curve& curve, std::size_t bytes) {
  const auto above =
      std::lower_bound(curve.begin(), curve.end(), bytes, [](const Point& p, std::size_t b) { return p.bytes < b; });
  if (above != curve.end() && above->bytes == bytes) return above->seconds;
  if (above == curve.end()) {
    const Point& last = curve.back();
    if (ratio(bytes, last.bytes) > beyond_reach) return std::nullopt;
    return last.seconds * ratio(bytes, last.bytes);
  }
  if (above == curve.begin()) {
    if (ratio(above->bytes, bytes) > beyond_reach) return std::nullopt;
    return above->seconds;
  }
  const Point& below = *(above - 1);
  if (ratio(bytes, below.bytes) > between_reach || ratio(above->bytes, bytes) > between_reach) return std::nullopt;
  const double share = std::log(ratio(bytes, below.bytes)) / std::log(ratio(above->bytes, below.bytes));
  return below.seconds * std::pow(above->seconds / below.seconds, share);
}

std::optional<double> Table::seconds(const Signature& signature, std::string_view candidate) const {
  const TypeClass type = type_class_of(signature);
  const Curve* nearest = nullptr;
  double nearest_distance = 0;
  for (const auto& [width, by_name] : curves_of(signature.operation, signature.kind, type.arithmetic)) {
    const auto found = by_name.find(candidate);
    const double distance = width_distance(width, type.element_bytes);
    if (found == by_name.end() || (nearest != nullptr && distance >= nearest_distance)) continue;
    nearest = &found->second;
    nearest_distance = distance;
  }
  if (nearest == nullptr) return std::nullopt;
  return read(*nearest, bytes_of(signature));
}

}  // namespace tutti::detail::tuning
