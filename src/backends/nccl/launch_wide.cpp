// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>
#include <tutti/kernels/device.hpp>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/rules.hpp"
#include "kernels/device/combine.hpp"

namespace tutti::detail::nccl {
namespace {

namespace kernels = tutti::kernels::device;

/// The parts of the wide form in scratch memory: the vector in float32, and the gathered result in the narrow type.
struct WideParts {
  std::size_t count;  ///< of this rank's input, in elements
  std::size_t block;  ///< that each rank reduces; 0: one collective reduces all on all ranks or on the root
  std::size_t wide_count;

  WideParts(const Signature& s, int size) {
    const auto ranks = static_cast<std::size_t>(size);
    const bool scatters = s.operation == Operation::reduce_scatter_block;
    count = scatters ? s.count * ranks : s.count;
    block = scatters ? s.count : 0;
    if (s.operation == Operation::allreduce && is_long(s)) block = (s.count + ranks - 1) / ranks;
    wide_count = block > 0 ? block * ranks : count;
  }
  /// The result of a block can be gathered in the caller's buffer.
  [[nodiscard]] bool fits() const { return wide_count == count; }

 private:
  /// Vectors of 1 MiB or more, for which a second launch costs less than the bytes that it saves.
  static bool is_long(const Signature& s) { return s.count * s.type.size() >= std::size_t{1} << 20U; }
};

class Wide final : public Parts {
 public:
  explicit Wide(const Launch& launch)
      : launch_(launch),
        signature_(launch.plan.signature),
        table_(launch.comm.table()),
        parts_(signature_, launch.size),
        stream_(StreamKind::cuda, launch.stream),
        wide_(reinterpret_cast<float*>(launch.buffers.scratch())),
        output_(static_cast<std::byte*>(launch.binding.output)) {}

  std::optional<LaunchingCall> next() override {
    if (signature_.count == 0) return std::nullopt;
    switch (part_++) {
      case 0:
        widen();
        return first_call();
      case 1:
        if (gathers()) return gather();
        narrow_result();
        return std::nullopt;
      default:
        if (gathered() != output_)
          device::required_runtime("allreduce").copy(output_, gathered(), parts_.count * unit(), launch_.stream);
        return std::nullopt;
    }
  }

 private:
  void widen() {
    kernels::convert(type(), launch_.buffers.input(), DatatypeKind::float32, wide_, parts_.count, stream_);
    if (signature_.op != ReduceKind::premul_sum) return;
    const double factor = launch_.binding.op.scalar();
    kernels::scale_copy(DatatypeKind::float32, wide_, wide_, parts_.count, factor, launch_.stream);
  }

  [[nodiscard]] LaunchingCall first_call() {
    constexpr DataType type = DataType::float32;
    if (parts_.block > 0)
      return launch_.collective("ncclReduceScatter", table_.reduce_scatter, table_.reduce_scatter_config, wide_, mine(),
                                parts_.block, type, op());
    if (signature_.operation == Operation::reduce)
      return launch_.collective("ncclReduce", table_.reduce, table_.reduce_config, wide_, wide_, parts_.count, type,
                                op(), signature_.root);
    return launch_.collective("ncclAllReduce", table_.all_reduce, table_.all_reduce_config, wide_, wide_, parts_.count,
                              type, op());
  }

  /// Each rank rounds its block, so that half of the bytes travel in the narrow type, and all ranks get the same bits.
  [[nodiscard]] LaunchingCall gather() {
    std::byte* own = gathered() + static_cast<std::size_t>(launch_.rank) * parts_.block * unit();
    narrow(mine(), parts_.block, own);
    const Words words = words_to_move(signature_.type);
    return launch_.collective("ncclAllGather", table_.all_gather, table_.all_gather_config, own, gathered(),
                              parts_.block * words.words, words.type);
  }

  void narrow_result() {
    if (parts_.block > 0)
      narrow(mine(), parts_.block, output_);
    else if (signature_.operation != Operation::reduce || launch_.rank == signature_.root)
      narrow(wide_, parts_.count, output_);
  }

  void narrow(float* from, std::size_t count, std::byte* to) {
    const auto ranks = static_cast<std::size_t>(launch_.size);
    if (signature_.op == ReduceKind::avg) kernels::divide(DatatypeKind::float32, from, count, ranks, launch_.stream);
    kernels::convert(DatatypeKind::float32, from, type(), to, count, stream_);
  }

  [[nodiscard]] bool gathers() const { return parts_.block > 0 && signature_.operation == Operation::allreduce; }
  [[nodiscard]] std::byte* gathered() const {
    return parts_.fits() ? output_ : launch_.buffers.scratch() + parts_.wide_count * sizeof(float);
  }
  [[nodiscard]] float* mine() const { return wide_ + static_cast<std::size_t>(launch_.rank) * parts_.block; }
  [[nodiscard]] DatatypeKind type() const { return signature_.type.kind(); }
  [[nodiscard]] std::size_t unit() const { return signature_.type.size(); }
  [[nodiscard]] RedOp op() const { return signature_.op == ReduceKind::prod ? RedOp::prod : RedOp::sum; }

  Launch launch_;
  const Signature& signature_;
  const Table& table_;
  WideParts parts_;
  Stream stream_;
  float* wide_;
  std::byte* output_;
  int part_ = 0;
};

}  // namespace

std::size_t wide_bytes(const Signature& signature, int size) {
  const WideParts parts(signature, size);
  const bool gathers = signature.operation == Operation::allreduce && parts.block > 0 && !parts.fits();
  return parts.wide_count * (sizeof(float) + (gathers ? signature.type.size() : 0));
}

void load_wide_kernels(const Signature& signature, int size, StreamHandle stream) {
  const Stream on(StreamKind::cuda, stream);
  const DatatypeKind type = signature.type.kind();
  kernels::convert(type, nullptr, DatatypeKind::float32, nullptr, 0, on);
  kernels::convert(DatatypeKind::float32, nullptr, type, nullptr, 0, on);
  if (signature.op == ReduceKind::premul_sum)
    kernels::scale_copy(DatatypeKind::float32, nullptr, nullptr, 0, 1, stream);
  if (signature.op == ReduceKind::avg)
    kernels::divide(DatatypeKind::float32, nullptr, 0, static_cast<std::size_t>(size), stream);
}

std::unique_ptr<Parts> wide_parts(const Launch& launch) { return std::make_unique<Wide>(launch); }

}  // namespace tutti::detail::nccl
