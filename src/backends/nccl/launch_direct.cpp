// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>
#include <utility>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/rules.hpp"

namespace tutti::detail::nccl {
namespace {

/// One collective, with its buffers as NCCL takes them and its counts in NCCL's words.
class Direct final : public Parts {
 public:
  explicit Direct(const Launch& launch)
      : launch_(launch),
        signature_(launch.plan.signature),
        table_(launch.comm.table()),
        send_(launch.buffers.input()),
        recv_(static_cast<std::byte*>(launch.binding.output)) {}

  std::optional<LaunchingCall> next() override;

 private:
  [[nodiscard]] LaunchingCall barrier();
  [[nodiscard]] LaunchingCall move();
  [[nodiscard]] LaunchingCall reduce();
  [[nodiscard]] LaunchingCall reduce_scatter(const Words& words, RedOp op);
  void finish() const;
  [[nodiscard]] RedOp operation(const Reduction& reduction) const;
  [[nodiscard]] std::size_t words_of(const Words& words) const { return signature_.count * words.words; }
  [[nodiscard]] std::size_t block() const { return signature_.count * signature_.type.size(); }

  Launch launch_;
  const Signature& signature_;
  const Table& table_;
  const std::byte* send_;
  std::byte* recv_;
  std::byte* result_ = nullptr;  ///< of a reduce_scatter, where NCCL writes it
  bool is_made_ = false;
};

std::optional<LaunchingCall> Direct::next() {
  const bool is_barrier = signature_.operation == Operation::barrier;
  if (signature_.count == 0 && !is_barrier) return std::nullopt;
  if (std::exchange(is_made_, true)) {
    finish();
    return std::nullopt;
  }
  if (is_barrier) return barrier();
  launch_.buffers.prepare_input(launch_.stream);
  return tutti::combines(signature_.operation) ? reduce() : move();
}

LaunchingCall Direct::barrier() {
  std::byte* word = launch_.buffers.signals();
  device::required_runtime("barrier").fill_zero(word, 1, launch_.stream);
  return {table_.all_reduce(word, word, 1, DataType::uint8, RedOp::max, launch_.comm.handle(), launch_.stream),
          "ncclAllReduce"};
}

LaunchingCall Direct::move() {
  const Words words = words_to_move(signature_.type);
  const std::size_t n = words_of(words);
  const int root = signature_.root;
  const CommHandle comm = launch_.comm.handle();
  const StreamHandle stream = launch_.stream;
  switch (signature_.operation) {
    case Operation::bcast:
      return {table_.broadcast(recv_, recv_, n, words.type, root, comm, stream), "ncclBroadcast"};
    case Operation::allgather:
      return {table_.all_gather(send_, recv_, n, words.type, comm, stream), "ncclAllGather"};
    case Operation::alltoall:
      return {table_.all_to_all(send_, recv_, n, words.type, comm, stream), "ncclAlltoAll"};
    case Operation::gather:
      return {table_.gather(send_, recv_, n, words.type, root, comm, stream), "ncclGather"};
    case Operation::scatter:
      return {table_.scatter(send_, recv_, n, words.type, root, comm, stream), "ncclScatter"};
    default:
      throw Error(ErrorCode::internal, "NCCL has no collective for this operation");
  }
}

RedOp Direct::operation(const Reduction& reduction) const {
  if (!reduction.pre_multiplies) return reduction.op;
  return launch_.comm.pre_multiplied_sum(reduction.words.type, launch_.binding.op.scalar());
}

LaunchingCall Direct::reduce() {
  const auto reduction = reduction_inside(signature_, launch_.comm.table().version);
  if (!reduction) throw Error(ErrorCode::internal, "NCCL does not reduce as this call requires");
  const Words& words = reduction->words;
  const RedOp op = operation(*reduction);
  const CommHandle comm = launch_.comm.handle();
  const StreamHandle stream = launch_.stream;
  switch (signature_.operation) {
    case Operation::allreduce:
      return {table_.all_reduce(send_, recv_, words_of(words), words.type, op, comm, stream), "ncclAllReduce"};
    case Operation::reduce:
      return {table_.reduce(send_, recv_, words_of(words), words.type, op, signature_.root, comm, stream),
              "ncclReduce"};
    default:
      return reduce_scatter(words, op);
  }
}

/// In place, the library's result is at the start of the vector, but NCCL's result is at the rank's block.
LaunchingCall Direct::reduce_scatter(const Words& words, RedOp op) {
  result_ = recv_;
  if (launch_.binding.in_place) result_ = recv_ + static_cast<std::size_t>(launch_.rank) * block();
  return {table_.reduce_scatter(send_, result_, words_of(words), words.type, op, launch_.comm.handle(), launch_.stream),
          "ncclReduceScatter"};
}

void Direct::finish() const {
  if (result_ != nullptr && result_ != recv_)
    device::required_runtime("reduce_scatter_block").copy(recv_, result_, block(), launch_.stream);
}

}  // namespace

bool saves_input(const Signature& signature, const Binding& binding) {
  return signature.operation == Operation::alltoall && binding.in_place;
}

std::unique_ptr<Parts> direct_parts(const Launch& launch) { return std::make_unique<Direct>(launch); }

}  // namespace tutti::detail::nccl
