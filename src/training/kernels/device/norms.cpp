// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/scratch.hpp"
#include "training/kernels/device/tables.hpp"
#include "training/kernels/float_kinds.hpp"
#include "training/kernels/norm_arithmetic.hpp"

namespace tutti::kernels::device {

namespace {

/// Item i: one lane of one block, every sixteenth element of it.
template <Norm Kind, typename T>
struct LaneBody {
  const T* data;
  std::size_t count;
  double* lanes;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const std::size_t first = i / norm_lanes * norm_block;
    const std::size_t end = first + norm_block < count ? first + norm_block : count;
    double acc = 0;
    for (std::size_t k = first + i % norm_lanes; k < end; k += norm_lanes) {
      acc = norm_join<Kind>(acc, norm_term<Kind>(data[k]));
    }
    lanes[i] = acc;
  }
};

/// Item i: joins the lanes of one block as a tree into the first.
template <Norm Kind>
struct TreeBody {
  double* lanes;
  TUTTI_FUNCTION void operator()(std::size_t i) const { norm_tree<Kind>(lanes + i * norm_lanes); }
};

/// Item i: joins `each` values from number i * each on, which lie at equal distances.
template <Norm Kind>
struct SequenceBody {
  const double* values;
  std::size_t count;  ///< of all items
  std::size_t each;
  std::size_t distance;
  double* results;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const std::size_t first = i * each;
    results[i] = norm_sequence<Kind>(values + first * distance, count - first < each ? count - first : each, distance);
  }
};

template <Norm Kind, typename T>
void launch_norm(const void* data, std::size_t count, double* result, Workspace& workspace, StreamHandle stream) {
  const std::size_t blocks = (count + norm_block - 1) / norm_block;
  const std::size_t parts = (blocks + norm_part_blocks - 1) / norm_part_blocks;
  auto* lanes = entered(workspace, stream).array<double>(ScratchUse::norms, blocks * norm_lanes + parts, stream);
  double* const totals = lanes + blocks * norm_lanes;
  launch(stream, blocks * norm_lanes, LaneBody<Kind, T>{static_cast<const T*>(data), count, lanes});
  launch(stream, blocks, TreeBody<Kind>{lanes});
  launch(stream, parts, SequenceBody<Kind>{lanes, blocks, norm_part_blocks, norm_lanes, totals});
  launch(stream, 1, SequenceBody<Kind>{totals, parts, parts, 1, result});
}

}  // namespace

void norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count, double* result, Workspace& workspace,
               Stream stream) {
  with_norm("device::norm_part", norm, [&](auto kind) {
    constexpr Norm chosen = decltype(kind)::value;
    with_float("device::norm_part", type, [&]<typename T>(T /*number*/) {
      launch_norm<chosen, T>(data, count, result, workspace, handle_of(stream));
    });
  });
}

}  // namespace tutti::kernels::device
