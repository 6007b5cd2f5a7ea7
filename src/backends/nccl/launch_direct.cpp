// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string_view>
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
  void require_accepted(Result result) const;
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
  const LaunchingCall call = tutti::combines(signature_.operation) ? reduce() : move();
  if (is_told(launch_.plan)) require_accepted(call.result);
  return call;
}

/// NCCL knows only now whether the devices and the network have the algorithm.
void Direct::require_accepted(Result result) const {
  if (result != Result::invalid_argument && result != Result::invalid_usage) return;
  const char* said = table_.get_last_error(nullptr);
  throw Error(ErrorCode::invalid_algorithm,
              fmt::format("NCCL refuses algorithm '{}' here: {}; name another one, or none", launch_.plan.way,
                          said == nullptr ? "" : said));
}

LaunchingCall Direct::barrier() {
  std::byte* word = launch_.buffers.signals();
  device::required_runtime("barrier").fill_zero(word, 1, launch_.stream);
  return launch_.collective("ncclAllReduce", table_.all_reduce, table_.all_reduce_config, word, word, std::size_t{1},
                            DataType::uint8, RedOp::max);
}

LaunchingCall Direct::move() {
  const Words words = words_to_move(signature_.type);
  const std::size_t n = words_of(words);
  const int root = signature_.root;
  const DataType type = words.type;
  switch (signature_.operation) {
    case Operation::bcast:
      return launch_.collective("ncclBroadcast", table_.broadcast, table_.broadcast_config, recv_, recv_, n, type,
                                root);
    case Operation::allgather:
      return launch_.collective("ncclAllGather", table_.all_gather, table_.all_gather_config, send_, recv_, n, type);
    case Operation::alltoall:
      return launch_.collective("ncclAlltoAll", table_.all_to_all, table_.all_to_all_config, send_, recv_, n, type);
    case Operation::gather:
      return launch_.collective("ncclGather", table_.gather, table_.gather_config, send_, recv_, n, type, root);
    case Operation::scatter:
      return launch_.collective("ncclScatter", table_.scatter, table_.scatter_config, send_, recv_, n, type, root);
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
  const std::size_t n = words_of(words);
  switch (signature_.operation) {
    case Operation::allreduce:
      return launch_.collective("ncclAllReduce", table_.all_reduce, table_.all_reduce_config, send_, recv_, n,
                                words.type, op);
    case Operation::reduce:
      return launch_.collective("ncclReduce", table_.reduce, table_.reduce_config, send_, recv_, n, words.type, op,
                                signature_.root);
    default:
      return reduce_scatter(words, op);
  }
}

/// In place, the library's result is at the start of the vector, but NCCL's result is at the rank's block.
LaunchingCall Direct::reduce_scatter(const Words& words, RedOp op) {
  result_ = recv_;
  if (launch_.binding.in_place) result_ = recv_ + static_cast<std::size_t>(launch_.rank) * block();
  return launch_.collective("ncclReduceScatter", table_.reduce_scatter, table_.reduce_scatter_config, send_, result_,
                            words_of(words), words.type, op);
}

void Direct::finish() const {
  if (result_ != nullptr && result_ != recv_)
    device::required_runtime("reduce_scatter_block").copy(recv_, result_, block(), launch_.stream);
}

}  // namespace

bool saves_input(const Signature& signature, const Binding& binding) {
  return signature.operation == Operation::alltoall && binding.in_place;
}

CallConfig config_of(const Plan& plan, std::uint32_t number) {
  CallConfig config;
  config.profiler_tag = number;
  if (!is_told(plan)) return config;
  const char* told = plan.way.c_str() + std::string_view("nccl:").size();
  if (told == zero_ctas)
    config.cta_policy = static_cast<int>(CtaPolicy::zero);
  else
    config.selection = told;
  return config;
}

std::unique_ptr<Parts> direct_parts(const Launch& launch) { return std::make_unique<Direct>(launch); }

}  // namespace tutti::detail::nccl
