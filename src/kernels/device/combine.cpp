// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/combine.hpp"

#include <algorithm>
#include <string>
#include <tutti/kernels/device.hpp>

#include "kernels/device/combine_launch.hpp"
#include "kernels/device/launcher.hpp"

namespace tutti::kernels::device {

namespace {

const char* byte_at(const void* address) { return static_cast<const char*>(address); }

/// Throws unless all inputs but number `skip` lie at equal distances.
bool equally_spaced(std::span<const void* const> inputs, std::size_t skip, const char*& first,
                    std::ptrdiff_t& distance) {
  const std::size_t a = skip == 0 ? 1 : 0;
  const std::size_t b = skip == a + 1 ? a + 2 : a + 1;
  distance = (byte_at(inputs[b]) - byte_at(inputs[a])) / static_cast<std::ptrdiff_t>(b - a);
  first = byte_at(inputs[a]) - static_cast<std::ptrdiff_t>(a) * distance;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k != skip && byte_at(inputs[k]) != first + static_cast<std::ptrdiff_t>(k) * distance) return false;
  }
  return true;
}

bool is_pair(DatatypeKind type) { return type >= DatatypeKind::float32_int32 && type <= DatatypeKind::float64_float64; }
bool is_float(DatatypeKind type) { return type >= DatatypeKind::float8_e4m3 && type <= DatatypeKind::complex128; }

}  // namespace

bool is_available() noexcept { return has_kernels(); }

CombineInputs::CombineInputs(std::span<const void* const> inputs) : size_(inputs.size()) {
  if (inputs.empty()) throw Error(ErrorCode::invalid_argument, "combine: inputs is empty; it needs at least one");
  if (size_ <= listed_inputs) {
    std::copy(inputs.begin(), inputs.end(), list_);
    return;
  }
  for (other_at_ = 0; other_at_ < size_; ++other_at_) {
    if (!equally_spaced(inputs, other_at_, first_, distance_)) continue;
    other_ = inputs[other_at_];
    return;
  }
  throw Error(ErrorCode::not_supported, "combine: " + std::to_string(size_) +
                                            " inputs in device memory must lie at equal distances, except one; use "
                                            "at most " +
                                            std::to_string(listed_inputs) + " others");
}

bool CombineInputs::aligned() const {
  bool all = true;
  for (std::size_t k = 0; k < size_; ++k) all = all && is_aligned((*this)[k]);
  return all;
}

void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count,
             StreamHandle stream) {
  const CombineJob job{type.kind(), op.kind(), inputs, output, count, stream};
  bool done = op.kind() != ReduceKind::user && is_defined(op.kind(), type.kind());
  if (done && is_pair(job.type)) {
    done = combine_pairs(job);
  } else if (done) {
    done = is_float(job.type) ? combine_floats(job) : combine_integers(job);
  }
  if (done) return;
  throw Error(ErrorCode::invalid_op, std::string("operation ") + reduce_op_name(op.kind()) +
                                         " is not defined for datatype " + datatype_name(type.kind()) +
                                         " in device memory; tutti::is_defined tells which are");
}

void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count,
             Stream stream) {
  combine(type, op, inputs, output, count, handle_of(stream));
}

void divide(Datatype type, void* data, std::size_t count, std::size_t divisor, StreamHandle stream) {
  const void* input = data;
  combine_avg(type, {&input, 1}, data, count, divisor, stream);
}

}  // namespace tutti::kernels::device
