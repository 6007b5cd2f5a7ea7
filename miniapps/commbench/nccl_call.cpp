// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "call.hpp"
#include "raw_nccl.hpp"

namespace tutti::commbench {
namespace {

using Sizes = std::vector<std::size_t>;

NcclType type_of(Datatype type) {
  switch (type.kind()) {
    case DatatypeKind::int8:
      return NcclType::int8;
    case DatatypeKind::uint8:
      return NcclType::uint8;
    case DatatypeKind::int32:
      return NcclType::int32;
    case DatatypeKind::uint32:
      return NcclType::uint32;
    case DatatypeKind::int64:
      return NcclType::int64;
    case DatatypeKind::uint64:
      return NcclType::uint64;
    case DatatypeKind::float16:
      return NcclType::float16;
    case DatatypeKind::bfloat16:
      return NcclType::bfloat16;
    case DatatypeKind::float32:
      return NcclType::float32;
    case DatatypeKind::float64:
      return NcclType::float64;
    default:
      throw NotApplicable(fmt::format("NCCL has no {}", datatype_name(type.kind())));
  }
}

NcclOp op_of(ReduceKind op) {
  switch (op) {
    case ReduceKind::sum:
      return NcclOp::sum;
    case ReduceKind::prod:
      return NcclOp::prod;
    case ReduceKind::min:
      return NcclOp::min;
    case ReduceKind::max:
      return NcclOp::max;
    case ReduceKind::avg:
      return NcclOp::avg;
    default:
      throw NotApplicable(fmt::format("NCCL has no {}", reduce_op_name(op)));
  }
}

void require_possible(Operation operation) {
  if (operation == Operation::scan || operation == Operation::exscan || operation == Operation::barrier ||
      operation == Operation::reduce_scatter)
    throw NotApplicable(fmt::format("NCCL has no {}", operation_name(operation)));
}

class NcclCall final : public MeasuredCall {
 public:
  NcclCall(RawNccl& nccl, const Arguments& a)
      : nccl_(nccl), a_(a), count_(a.shape->count), type_(type_of(a.point.type)) {
    if (!a.point.traffic) require_possible(a.point.operation);
    if (a.in_place) throw NotApplicable("NCCL's calls in place are laid out in another way; leave out --in-place");
    if (a.point.mode != Mode::blocking) throw NotApplicable("calls of NCCL have one form: ordered on a stream");
    if (a.point.op) op_ = op_of(*a.point.op);
  }

  void run() override { nccl_.check(issue(), "NCCL"); }
  void start() override { run(); }
  bool test() override { return true; }
  void wait() override {}

 private:
  NcclResult issue();
  NcclResult exchange(bool to_all, bool from_all);
  NcclResult exchange_messages();
  NcclResult send_to(int peer);
  NcclResult recv_from(int peer);

  RawNccl& nccl_;
  Arguments a_;
  std::size_t count_;
  NcclType type_;
  NcclOp op_ = NcclOp::sum;
};

NcclResult NcclCall::issue() {
  const auto& t = nccl_.table();
  const auto comm = nccl_.handle();
  void* stream = a_.stream.handle;
  const int root = a_.world.root;
  const bool is_root = a_.world.rank == root;
  if (a_.point.traffic) return exchange_messages();
  switch (a_.point.operation) {
    case Operation::bcast:
      return t.broadcast(a_.recv, a_.recv, count_, type_, root, comm, stream);
    case Operation::reduce:
      return t.reduce(a_.send, a_.recv, count_, type_, op_, root, comm, stream);
    case Operation::allreduce:
      return t.all_reduce(a_.send, a_.recv, count_, type_, op_, comm, stream);
    case Operation::reduce_scatter_block:
      return t.reduce_scatter(a_.send, a_.recv, count_, type_, op_, comm, stream);
    case Operation::allgather:
      return t.all_gather(a_.send, a_.recv, count_, type_, comm, stream);
    default: {
      const RootPart part = traits_of(a_.point.operation).root;
      return exchange(part == RootPart::none || (part == RootPart::gives && is_root),
                      part == RootPart::none || (part == RootPart::takes && is_root));
    }
  }
}

/// One block, or the one for `peer`.
NcclResult NcclCall::send_to(int peer) {
  const Shape& shape = *a_.shape;
  const auto at = static_cast<std::size_t>(peer);
  const bool one_block = shape.send_counts.empty();
  const std::size_t from = one_block ? 0 : shape.send_displs[at] * a_.point.type.size();
  return nccl_.table().send(a_.send + from, one_block ? shape.send : shape.send_counts[at], type_, peer, nccl_.handle(),
                            a_.stream.handle);
}

NcclResult NcclCall::recv_from(int peer) {
  const Shape& shape = *a_.shape;
  const auto at = static_cast<std::size_t>(peer);
  const bool one_block = shape.recv_counts.empty();
  const std::size_t to = one_block ? 0 : shape.recv_displs[at] * a_.point.type.size();
  return nccl_.table().recv(a_.recv + to, one_block ? shape.recv : shape.recv_counts[at], type_, peer, nccl_.handle(),
                            a_.stream.handle);
}

/// As a root, or as all ranks do; where not, with the root only.
NcclResult NcclCall::exchange(bool to_all, bool from_all) {
  const RootPart part = traits_of(a_.point.operation).root;
  const bool gathers = part == RootPart::takes;
  const bool scatters = part == RootPart::gives;
  nccl_.check(nccl_.table().group_start(), "ncclGroupStart");
  for (int peer = 0; peer < a_.world.ranks; ++peer) {
    const bool is_root = peer == a_.world.root;
    if (to_all || (gathers && is_root)) nccl_.check(send_to(peer), "ncclSend");
    if (from_all || (scatters && is_root)) nccl_.check(recv_from(peer), "ncclRecv");
  }
  return nccl_.table().group_end();
}

/// NCCL matches the messages of two ranks by their order, in which the shape has those of a tag.
NcclResult NcclCall::exchange_messages() {
  nccl_.check(nccl_.table().group_start(), "ncclGroupStart");
  const std::size_t size = a_.point.type.size();
  for (const MessageSlice& one : a_.shape->messages)
    if (one.is_recv)
      nccl_.check(
          nccl_.table().recv(a_.recv + one.at * size, one.length, type_, one.peer, nccl_.handle(), a_.stream.handle),
          "ncclRecv");
    else
      nccl_.check(
          nccl_.table().send(a_.send + one.at * size, one.length, type_, one.peer, nccl_.handle(), a_.stream.handle),
          "ncclSend");
  return nccl_.table().group_end();
}

}  // namespace

std::unique_ptr<MeasuredCall> make_nccl_call(RawNccl& nccl, const Communicator& comm, const Arguments& arguments) {
  if (!is_on_device(arguments.point.memory)) throw NotApplicable("NCCL works on device memory; see --memory");
  nccl.connect(comm);
  return std::make_unique<NcclCall>(nccl, arguments);
}

}  // namespace tutti::commbench
