// SPDX-License-Identifier: BSD-3-Clause
#include "grids.hpp"

#include <algorithm>
#include <numeric>
#include <tutti/error.hpp>
#include <vector>

#include "construction.hpp"

namespace tutti::preload {
namespace {

struct Step {
  MPI_Count count;
  MPI_Count stride;
};

/// Runs of bytes that follow one another: `run` bytes at each place of a grid, the fastest step last.
struct Runs {
  MPI_Count offset = 0;
  MPI_Count run = 0;
  std::vector<Step> steps{};  ///< those of one datatype are added from the fastest one on, and turned round at the end
};
using MaybeRuns = std::optional<Runs>;

MaybeRuns runs_of(MPI_Datatype type);

/// `count` repetitions at equal distances, from the fastest step on.
MaybeRuns repeated(MaybeRuns runs, MPI_Count count, MPI_Count stride) {
  if (!runs || count == 1) return runs;
  if (count <= 0) return std::nullopt;
  MPI_Count reach = 0;
  MPI_Count last = runs->run;
  if (__builtin_mul_overflow(count, stride, &reach)) return std::nullopt;
  if (!runs->steps.empty()) last = runs->steps.back().count * runs->steps.back().stride;
  if (last != stride)
    runs->steps.push_back({count, stride});
  else if (runs->steps.empty())
    runs->run = reach;
  else
    runs->steps.back().count *= count;
  return runs;
}

/// Blocks of elements of one type; distance: from block to block, in bytes.
MaybeRuns blocks_of(MPI_Datatype type, MPI_Count blocks, MPI_Count length, MPI_Count distance) {
  const auto places = places_of(type);
  if (!places) return std::nullopt;
  return repeated(repeated(runs_of(type), length, places->extent), blocks, distance);
}

MaybeRuns vector_of(const Construction& made) {
  const auto places = places_of(made.parts()[0]);
  MPI_Count distance = 0;
  if (!places || __builtin_mul_overflow(made.number(2), places->extent, &distance)) return std::nullopt;
  return blocks_of(made.parts()[0], made.number(0), made.number(1), distance);
}

/// The part of an array of elements, its numbers from index `begin` on.
MaybeRuns part_of_array(const Construction& made, std::size_t begin, std::size_t dimensions) {
  const auto places = places_of(made.parts()[0]);
  MaybeRuns runs = runs_of(made.parts()[0]);
  if (!places || !runs) return std::nullopt;
  MPI_Count stride = places->extent;
  for (std::size_t k = 0; k < dimensions && runs; ++k) {
    const bool is_c = made.numbers().back() == MPI_ORDER_C;
    const std::size_t d = begin + (is_c ? dimensions - 1 - k : k);  // the fastest first
    MPI_Count start = 0;
    if (__builtin_mul_overflow(made.number(d + 2 * dimensions), stride, &start)) return std::nullopt;
    runs = repeated(std::move(runs), made.number(d + dimensions), stride);
    if (runs) runs->offset += start;
    if (__builtin_mul_overflow(stride, made.number(d), &stride)) return std::nullopt;
  }
  return runs;
}

MaybeRuns subarray_of(const Construction& made) {
  const std::size_t dimensions = (made.numbers().size() - 2) / 3;
  return part_of_array(made, made.has_large_counts() ? 0 : 1, dimensions);
}

MaybeRuns named(MPI_Datatype type) {
  const auto places = places_of(type);
  if (!places || !places->is_solid()) return std::nullopt;
  return Runs{0, places->size, {}};
}

MaybeRuns runs_of(MPI_Datatype type) {
  const Construction made(type);
  if (made.is_named()) return named(type);
  switch (made.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return runs_of(made.parts()[0]);
    case MPI_COMBINER_CONTIGUOUS:
      return blocks_of(made.parts()[0], 1, made.number(0), 0);
    case MPI_COMBINER_VECTOR:
      return vector_of(made);
    case MPI_COMBINER_HVECTOR:
      return blocks_of(made.parts()[0], made.number(0), made.number(1), made.number(2));
    case MPI_COMBINER_SUBARRAY:
      return subarray_of(made);
    default:
      return std::nullopt;
  }
}

/// Whether what was read of the construction has the size and the ends that the MPI says.
bool has_places(const Runs& runs, const Places& places) {
  MPI_Count size = runs.run;
  MPI_Count first = runs.offset;
  MPI_Count last = runs.offset + runs.run;
  for (const Step& step : runs.steps) {
    size *= step.count;
    const MPI_Count reach = (step.count - 1) * step.stride;
    (reach < 0 ? first : last) += reach;
  }
  return size == places.size && first == places.true_lower && last - first == places.true_extent;
}

TypeGrid grid_of_runs(const Runs& runs, MPI_Count extent) {
  MPI_Count unit = std::gcd(runs.run, extent);
  for (const Step& step : runs.steps) unit = std::gcd(unit, step.stride);
  std::vector<std::size_t> extents;
  std::vector<std::ptrdiff_t> strides;
  std::for_each(runs.steps.rbegin(), runs.steps.rend(), [&](const Step& step) {
    extents.push_back(static_cast<std::size_t>(step.count));
    strides.push_back(static_cast<std::ptrdiff_t>(step.stride / unit));
  });
  extents.push_back(static_cast<std::size_t>(runs.run / unit));
  strides.push_back(1);
  return {static_cast<std::ptrdiff_t>(runs.offset), static_cast<std::size_t>(unit),
          Layout::strided(extents, strides).resized(static_cast<std::ptrdiff_t>(extent / unit))};
}

}  // namespace

std::optional<Places> places_of(MPI_Datatype type) {
  Places places;
  if (PMPI_Type_size_x(type, &places.size) != MPI_SUCCESS ||
      PMPI_Type_get_extent_x(type, &places.lower, &places.extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_x(type, &places.true_lower, &places.true_extent) != MPI_SUCCESS)
    return std::nullopt;
  return places;
}

std::optional<TypeGrid> grid_of(MPI_Datatype type, const Places& places) {
  if (places.size <= 0) return std::nullopt;
  const MaybeRuns runs = runs_of(type);
  if (!runs || !has_places(*runs, places)) return std::nullopt;
  try {
    return grid_of_runs(*runs, places.extent);
  } catch (const Error&) {  // more dimensions than a layout has, or beyond an address space
    return std::nullopt;
  }
}

}  // namespace tutti::preload
