// SPDX-License-Identifier: BSD-3-Clause
// The collective calls of c10d, one for one on Tutti's.
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scatter.hpp>

#include "backend.hpp"
#include "tensors.hpp"

namespace tutti::process_group {
namespace {

using c10d::OpType;
using TuttiOptions = tutti::Options;

void gather_list(const Communicator& comm, const TuttiOptions& options, const Tensors& outputs,
                 const at::Tensor& input) {
  const Contiguous sent(input);
  Block received(outputs, false);
  if (received.even())
    allgather(comm, sent.buffer(), received.buffer(), options);
  else
    allgatherv(comm, sent.buffer(), received.buffer(), received.counts(), received.places(), options);
  received.store();
}

void gather_one(const Communicator& comm, const TuttiOptions& options, const at::Tensor& output,
                const at::Tensor& input) {
  const Contiguous sent(input);
  Contiguous received(output, false);
  allgather(comm, sent.buffer(), received.buffer(), options);
  received.store();
}

void reduce_one(const Communicator& comm, const TuttiOptions& options, const at::Tensor& tensor, ReduceOp op) {
  Contiguous held(tensor);
  allreduce(comm, in_place, held.buffer(), op, options);
  held.store();
}

void scatter_sums(const Communicator& comm, const TuttiOptions& options, const at::Tensor& output,
                  const at::Tensor& input, ReduceOp op) {
  const Contiguous sent(input);
  Contiguous received(output, false);
  reduce_scatter_block(comm, sent.buffer(), received.buffer(), op, options);
  received.store();
}

void check_parts(const at::Tensor& whole, const at::Tensor& part, int ranks, const char* call) {
  check_alike({part}, whole, call);
  TORCH_CHECK(whole.numel() == part.numel() * ranks, "tutti: ", call, ": the larger tensor has ", whole.numel(),
              " elements, not those of ", ranks, " tensors of ", part.numel());
}

}  // namespace

Works Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  const at::Tensor tensor = only(tensors, "broadcast");
  check_root(opts.rootRank, "broadcast");
  return make(call_of(OpType::BROADCAST, "tutti:broadcast", tensors, tensors, opts),
              [tensor, root = static_cast<int>(opts.rootRank)](const Communicator& comm, const TuttiOptions& options) {
                Contiguous held(tensor);
                bcast(comm, held.buffer(), root, options);
                held.store();
              });
}

Works Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  if (tensors.size() == 1 && tensors[0].is_sparse()) return allreduce_sparse(tensors, opts);
  const at::Tensor tensor = only(tensors, "allreduce");
  return make(call_of(OpType::ALLREDUCE, "tutti:all_reduce", tensors, tensors, opts),
              [tensor, op = operation_of(opts.reduceOp, tensor)](
                  const Communicator& comm, const TuttiOptions& options) { reduce_one(comm, options, tensor, op); });
}

Works Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  TORCH_CHECK(!tensors.empty(), "tutti: allreduce_coalesced: requires non-empty tensor list");
  check_alike(tensors, tensors[0], "allreduce_coalesced");
  return make(
      call_of(OpType::ALLREDUCE_COALESCED, "tutti:all_reduce", tensors, tensors, opts),
      [tensors, op = operation_of(opts.reduceOp, tensors[0])](const Communicator& comm, const TuttiOptions& options) {
        Block held(tensors, true);
        tutti::allreduce(comm, in_place, held.buffer(), op, options);
        held.store();
      });
}

Works Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  const at::Tensor tensor = only(tensors, "reduce");
  check_root(opts.rootRank, "reduce");
  return make(call_of(OpType::REDUCE, "tutti:reduce", tensors, tensors, opts),
              [tensor, op = operation_of(opts.reduceOp, tensor), root = static_cast<int>(opts.rootRank),
               is_root = opts.rootRank == rank_](const Communicator& comm, const TuttiOptions& options) {
                Contiguous held(tensor);
                if (is_root) {
                  tutti::reduce(comm, in_place, held.buffer(), op, root, options);
                  held.store();
                } else {
                  tutti::reduce(comm, held.buffer(), Buffer(), op, root, options);
                }
              });
}

Works Backend::allgather(Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  const at::Tensor input = only(inputs, "allgather");
  TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == static_cast<std::size_t>(size_),
              "tutti: allgather: invalid output tensor list; it needs one tensor for each of ", size_, " ranks");
  check_alike(outputs[0], input, "allgather");
  return make(call_of(OpType::ALLGATHER, "tutti:all_gather", inputs, outputs[0], opts),
              [list = outputs[0], input](const Communicator& comm, const TuttiOptions& options) {
                gather_list(comm, options, list, input);
              });
}

Works Backend::all_gather_single(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) {
  check_parts(output, input, size_, "all_gather_single");
  return make(call_of(OpType::_ALLGATHER_BASE, "tutti:_all_gather_base", {input}, {output}, opts),
              [output, input](const Communicator& comm, const TuttiOptions& options) {
                gather_one(comm, options, output, input);
              });
}

Works Backend::allgather_coalesced(Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_) && !inputs.empty(),
              "tutti: allgather_coalesced: output lists should be equal to world size, and inputs not empty");
  Tensors all;
  for (const Tensors& list : outputs) {
    TORCH_CHECK(list.size() == inputs.size(), "tutti: allgather_coalesced: invalid output size: (expected length ",
                inputs.size(), ", got ", list.size(), ")");
    all.insert(all.end(), list.begin(), list.end());
  }
  return make(call_of(OpType::ALLGATHER_COALESCED, "tutti:all_gather", inputs, std::move(all), opts),
              [outputs, inputs](const Communicator& comm, const TuttiOptions& options) {
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                  Tensors list;
                  for (const Tensors& of_rank : outputs) list.push_back(of_rank[i]);
                  gather_list(comm, options, list, inputs[i]);
                }
              });
}

Works Backend::all_gather_single_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "tutti: all_gather_single_coalesced: as many outputs as inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_parts(outputs[i], inputs[i], size_, "all_gather_single_coalesced");
  return make(call_of(OpType::ALLGATHER_INTO_TENSOR_COALESCED, "tutti:all_gather", inputs, outputs, opts),
              [outputs, inputs](const Communicator& comm, const TuttiOptions& options) {
                for (std::size_t i = 0; i < inputs.size(); ++i) gather_one(comm, options, outputs[i], inputs[i]);
              });
}

Works Backend::gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) {
  const at::Tensor input = only(inputs, "gather");
  check_root(opts.rootRank, "gather");
  const bool is_root = opts.rootRank == rank_;
  TORCH_CHECK(is_root || outputs.empty(), "tutti: gather: requires empty output on non-root");
  TORCH_CHECK(!is_root || (outputs.size() == 1 && outputs[0].size() == static_cast<std::size_t>(size_)),
              "tutti: gather: Incorrect output list size; it needs one tensor for each of ", size_, " ranks");
  Tensors list = is_root ? outputs[0] : Tensors{};
  check_alike(list, input, "gather");
  for (const at::Tensor& output : list)
    TORCH_CHECK(output.numel() == input.numel(), "tutti: gather: tensors have different sizes");
  return make(call_of(OpType::GATHER, "tutti:gather", inputs, list, opts),
              [list, input, root = static_cast<int>(opts.rootRank), is_root](const Communicator& comm,
                                                                             const TuttiOptions& options) {
                const Contiguous sent(input);
                if (!is_root) return tutti::gather(comm, sent.buffer(), Buffer(), root, options);
                Block received(list, false);
                tutti::gather(comm, sent.buffer(), received.buffer(), root, options);
                received.store();
              });
}

Works Backend::gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& opts) {
  check_root(opts.rootRank, "gather_single");
  const bool is_root = opts.rootRank == rank_;
  if (is_root) check_parts(output, input, size_, "gather_single");
  return make(call_of(OpType::GATHER, "tutti:gather", {input}, is_root ? Tensors{output} : Tensors{}, opts),
              [output, input, root = static_cast<int>(opts.rootRank), is_root](const Communicator& comm,
                                                                               const TuttiOptions& options) {
                const Contiguous sent(input);
                if (!is_root) return tutti::gather(comm, sent.buffer(), Buffer(), root, options);
                Contiguous received(output, false);
                tutti::gather(comm, sent.buffer(), received.buffer(), root, options);
                received.store();
              });
}

Works Backend::scatter(Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& opts) {
  const at::Tensor output = only(outputs, "scatter");
  check_root(opts.rootRank, "scatter");
  const bool is_root = opts.rootRank == rank_;
  TORCH_CHECK(is_root || inputs.empty(), "tutti: scatter: requires empty input on non-root");
  TORCH_CHECK(!is_root || (inputs.size() == 1 && inputs[0].size() == static_cast<std::size_t>(size_)),
              "tutti: scatter: Incorrect input list size; it needs one tensor for each of ", size_, " ranks");
  Tensors list = is_root ? inputs[0] : Tensors{};
  check_alike(list, output, "scatter");
  for (const at::Tensor& input : list)
    TORCH_CHECK(output.numel() == input.numel(), "tutti: scatter: tensors have different sizes");
  return make(call_of(OpType::SCATTER, "tutti:scatter", list, outputs, opts),
              [list, output, root = static_cast<int>(opts.rootRank), is_root](const Communicator& comm,
                                                                              const TuttiOptions& options) {
                Contiguous received(output, false);
                if (is_root)
                  tutti::scatter(comm, Block(list, true).buffer(), received.buffer(), root, options);
                else
                  tutti::scatter(comm, ConstBuffer(), received.buffer(), root, options);
                received.store();
              });
}

Works Backend::reduce_scatter(Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& opts) {
  const at::Tensor output = only(outputs, "reduce_scatter");
  TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == static_cast<std::size_t>(size_),
              "tutti: reduce_scatter: invalid input tensor list; it needs one tensor for each of ", size_, " ranks");
  check_alike(inputs[0], output, "reduce_scatter");
  return make(call_of(OpType::REDUCE_SCATTER, "tutti:reduce_scatter", inputs[0], outputs, opts),
              [list = inputs[0], output, op = operation_of(opts.reduceOp, output)](const Communicator& comm,
                                                                                   const TuttiOptions& options) {
                const Block sent(list, true);
                Contiguous received(output, false);
                if (sent.even())
                  reduce_scatter_block(comm, sent.buffer(), received.buffer(), op, options);
                else
                  tutti::reduce_scatter(comm, sent.buffer(), received.buffer(), sent.counts(), op, options);
                received.store();
              });
}

Works Backend::reduce_scatter_single(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) {
  check_parts(input, output, size_, "reduce_scatter_single");
  return make(
      call_of(OpType::_REDUCE_SCATTER_BASE, "tutti:_reduce_scatter_base", {input}, {output}, opts),
      [output, input, op = operation_of(opts.reduceOp, output)](const Communicator& comm, const TuttiOptions& options) {
        scatter_sums(comm, options, output, input, op);
      });
}

Works Backend::reduce_scatter_single_coalesced(Tensors& outputs, Tensors& inputs,
                                               const c10d::ReduceScatterOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "tutti: reduce_scatter_single_coalesced: as many outputs as inputs");
  std::vector<ReduceOp> ops;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_parts(inputs[i], outputs[i], size_, "reduce_scatter_single_coalesced");
    ops.push_back(operation_of(opts.reduceOp, outputs[i]));
  }
  return make(call_of(OpType::REDUCE_SCATTER_TENSOR_COALESCED, "tutti:reduce_scatter", inputs, outputs, opts),
              [outputs, inputs, ops](const Communicator& comm, const TuttiOptions& options) {
                for (std::size_t i = 0; i < inputs.size(); ++i)
                  scatter_sums(comm, options, outputs[i], inputs[i], ops[i]);
              });
}

Works Backend::all_to_all_single(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                                 std::vector<std::int64_t>& input_splits, const c10d::AllToAllOptions& opts) {
  check_alike({input}, output, "all_to_all_single");
  c10d::checkSplitSizes(input_splits, input, size_);
  c10d::checkSplitSizes(output_splits, output, size_);
  C10dCall call = call_of(OpType::ALLTOALL_BASE, "tutti:all_to_all", {input}, {output}, opts);
  if (input_splits.empty() && output_splits.empty()) {
    TORCH_CHECK(output.numel() == input.numel(), "tutti: all_to_all_single: tensors have different sizes");
    return make(std::move(call), [output, input](const Communicator& comm, const TuttiOptions& options) {
      const Contiguous sent(input);
      Contiguous received(output, false);
      tutti::alltoall(comm, sent.buffer(), received.buffer(), options);
      received.store();
    });
  }
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<std::size_t> sends(ranks), receives(ranks), send_places(ranks), receive_places(ranks);
  c10d::computeLengthsAndOffsets(input_splits, input, &sends, &send_places);
  c10d::computeLengthsAndOffsets(output_splits, output, &receives, &receive_places);
  return make(std::move(call), [=](const Communicator& comm, const TuttiOptions& options) {
    const Contiguous sent(input);
    Contiguous received(output, false);
    alltoallv(comm, sent.buffer(), sends, send_places, received.buffer(), receives, receive_places, options);
    received.store();
  });
}

Works Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
  const auto ranks = static_cast<std::size_t>(size_);
  TORCH_CHECK(outputs.size() == ranks && inputs.size() == ranks, "tutti: alltoall: lists need one tensor for each of ",
              size_, " ranks");
  check_alike(inputs, inputs[0], "alltoall");
  check_alike(outputs, inputs[0], "alltoall");
  return make(call_of(OpType::ALLTOALL, "tutti:all_to_all", inputs, outputs, opts),
              [outputs, inputs](const Communicator& comm, const TuttiOptions& options) {
                const Block sent(inputs, true);
                Block received(outputs, false);
                alltoallv(comm, sent.buffer(), sent.counts(), sent.places(), received.buffer(), received.counts(),
                          received.places(), options);
                received.store();
              });
}

Works Backend::barrier(const c10d::BarrierOptions& opts) {
  return make(call_of(OpType::BARRIER, "tutti:barrier", {}, {}, opts),
              [](const Communicator& comm, const TuttiOptions& options) { tutti::barrier(comm, options); });
}

}  // namespace tutti::process_group
