// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "messages.hpp"
#include "work.hpp"

namespace tutti::process_group {

using Works = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
/// A call on tensors: blocking, with the options that it passes on.
using Body = std::function<void(const Communicator&, const tutti::Options&)>;

/// A process group of PyTorch on a Tutti communicator. Collective calls are made in the order of the program; those
/// with async_op=True on a thread of the group. Sends and receives travel on a communicator of their own.
class Backend final : public c10d::Backend {
 public:
  /// Takes the ranks of `comm`. Collective over it.
  Backend(c10::intrusive_ptr<c10d::Store> store, MPI_Comm comm, std::chrono::milliseconds timeout,
          const std::string& name);
  ~Backend() override;

  const std::string getBackendName() const override { return "tutti"; }
  c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() override { return options_; }
  bool supportsSplitting() const override { return true; }
  void setTimeout(std::chrono::milliseconds timeout) override { options_->timeout = timeout; }
  std::uint64_t getSequenceNumberForGroup() override { return calls_; }
  void setSequenceNumberForGroup() override {}
  c10d::ErrorType getError() override;
  void abort() override;
  void shutdown() override;
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
                                          const c10::intrusive_ptr<c10d::Backend::Options>& opts) override;

  Works broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
  Works allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  Works allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  Works allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  Works reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;
  Works allgather(Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  Works all_gather_single(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) override;
  Works _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) override {
    return all_gather_single(output, input, opts);
  }
  Works allgather_coalesced(Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  Works all_gather_single_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  Works allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                        const c10d::AllgatherOptions& opts) override {
    return all_gather_single_coalesced(outputs, inputs, opts);
  }
  Works gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) override;
  Works gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& opts) override;
  Works gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& opts) override {
    return gather_single(output, input, opts);
  }
  Works scatter(Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& opts) override;
  Works reduce_scatter(Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& opts) override;
  Works reduce_scatter_single(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override;
  Works _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override {
    return reduce_scatter_single(output, input, opts);
  }
  Works reduce_scatter_single_coalesced(Tensors& outputs, Tensors& inputs,
                                        const c10d::ReduceScatterOptions& opts) override;
  Works reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                        const c10d::ReduceScatterOptions& opts) override {
    return reduce_scatter_single_coalesced(outputs, inputs, opts);
  }
  Works all_to_all_single(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                          std::vector<std::int64_t>& input_splits, const c10d::AllToAllOptions& opts) override;
  Works alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                      std::vector<std::int64_t>& input_splits, const c10d::AllToAllOptions& opts) override {
    return all_to_all_single(output, input, output_splits, input_splits, opts);
  }
  Works alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
  Works barrier(const c10d::BarrierOptions& opts) override;
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;
  Works send(Tensors& tensors, int dest, int tag) override;
  Works recv(Tensors& tensors, int source, int tag) override;
  Works recvAnysource(Tensors& tensors, int tag) override;

 private:
  /// Makes a collective call: at once if the program waits for it, else on the lane.
  Works make(C10dCall call, Body body);
  /// Makes a call on device memory in the order of the current stream.
  Works make_on_device(C10dCall call, const at::Device& device, const Body& body);
  Works message(C10dCall call, int peer, int tag, bool sends);
  [[nodiscard]] std::chrono::milliseconds limit(std::chrono::milliseconds timeout) const;
  template <typename Opts>
  [[nodiscard]] C10dCall call_of(c10d::OpType type, const char* title, Tensors inputs, Tensors outputs,
                                 const Opts& opts) const {
    return {type, title, std::move(inputs), std::move(outputs), limit(opts.timeout), opts.asyncOp};
  }
  void check_root(std::int64_t root, const char* call) const;

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::Backend::Options> options_;
  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<Messages> messages_;
  std::shared_ptr<Lane> lane_ = std::make_shared<Lane>();
  std::uint64_t calls_ = 0;
  std::uint64_t monitored_ = 0;
  std::shared_ptr<std::atomic<bool>> failed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace tutti::process_group
