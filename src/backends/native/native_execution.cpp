// SPDX-License-Identifier: BSD-3-Clause
#include "backends/native/native_execution.hpp"

#include <cstring>
#include <numeric>
#include <tutti/error.hpp>

#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "core/mpi_call.hpp"
#include "core/mpi_types.hpp"

// MPI 4 has every collective with large counts under the suffix _c; with earlier versions only counts that fit into an
// int come here.
#if MPI_VERSION >= 4
#define TUTTI_LARGE(name) name##_c
#define TUTTI_COUNT(n) static_cast<MPI_Count>(n)
#else
#define TUTTI_LARGE(name) name
#define TUTTI_COUNT(n) static_cast<int>(n)
#endif
// Makes one call in its blocking form, or in its nonblocking form if there is a request.
#define TUTTI_NATIVE(blocking, nonblocking, ...) \
  (request == nullptr ? TUTTI_LARGE(blocking)(__VA_ARGS__) : TUTTI_LARGE(nonblocking)(__VA_ARGS__, request))

namespace tutti::detail {
namespace {

struct NativeCall {
  const Context& comm;
  const Signature& signature;
  const Binding& binding;
  NativeCounts& counts;
  MPI_Request* request;  ///< null: blocking

  [[nodiscard]] int run() const {
    if (tutti::has_counts(signature.operation)) return vector_form();
    return tutti::combines(signature.operation) ? reduction() : movement();
  }

 private:
  [[nodiscard]] const void* send() const { return binding.in_place ? MPI_IN_PLACE : binding.input; }

  [[nodiscard]] int reduction() const {
    const MPI_Datatype type = mpi_datatype(signature.type.kind());
    const MPI_Op op = mpi_op(signature.op);
    const auto n = TUTTI_COUNT(signature.count);
    const MPI_Comm c = comm.point_to_point;
    void* out = binding.output;
    switch (signature.operation) {
      case Operation::reduce:
        return TUTTI_NATIVE(MPI_Reduce, MPI_Ireduce, send(), out, n, type, op, signature.root, c);
      case Operation::allreduce:
        return TUTTI_NATIVE(MPI_Allreduce, MPI_Iallreduce, send(), out, n, type, op, c);
      case Operation::reduce_scatter_block:
        return TUTTI_NATIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, send(), out, n, type, op, c);
      case Operation::scan:
        return TUTTI_NATIVE(MPI_Scan, MPI_Iscan, send(), out, n, type, op, c);
      default:
        return TUTTI_NATIVE(MPI_Exscan, MPI_Iexscan, send(), out, n, type, op, c);
    }
  }

  /// Data are moved as bytes, because MPI's types add nothing here.
  [[nodiscard]] int movement() const {
    const auto n = TUTTI_COUNT(signature.count * signature.type.size());
    const MPI_Comm c = comm.point_to_point;
    void* out = binding.output;
    const int root = signature.root;
    switch (signature.operation) {
      case Operation::bcast:
        return TUTTI_NATIVE(MPI_Bcast, MPI_Ibcast, out, n, MPI_BYTE, root, c);
      case Operation::gather:
        return TUTTI_NATIVE(MPI_Gather, MPI_Igather, send(), n, MPI_BYTE, out, n, MPI_BYTE, root, c);
      case Operation::scatter: {
        void* to = binding.in_place ? MPI_IN_PLACE : out;
        return TUTTI_NATIVE(MPI_Scatter, MPI_Iscatter, binding.input, n, MPI_BYTE, to, n, MPI_BYTE, root, c);
      }
      case Operation::allgather:
        return TUTTI_NATIVE(MPI_Allgather, MPI_Iallgather, send(), n, MPI_BYTE, out, n, MPI_BYTE, c);
      case Operation::alltoall:
        return TUTTI_NATIVE(MPI_Alltoall, MPI_Ialltoall, send(), n, MPI_BYTE, out, n, MPI_BYTE, c);
      default:
        return request == nullptr ? MPI_Barrier(c) : MPI_Ibarrier(c, request);
    }
  }

#if MPI_VERSION >= 4
  [[nodiscard]] int vector_form() const {
    const MPI_Comm c = comm.point_to_point;
    void* out = binding.output;
    const int root = signature.root;
    const MPI_Count unit = static_cast<MPI_Count>(signature.type.size());
    const MPI_Count* send_counts = counts.send_counts.data();
    const MPI_Aint* send_displs = counts.send_displs.data();
    const MPI_Count* recv_counts = counts.recv_counts.data();
    const MPI_Aint* recv_displs = counts.recv_displs.data();
    switch (signature.operation) {
      case Operation::gatherv: {
        const MPI_Count n = static_cast<MPI_Count>(binding.send_count) * unit;
        return TUTTI_NATIVE(MPI_Gatherv, MPI_Igatherv, send(), n, MPI_BYTE, out, recv_counts, recv_displs, MPI_BYTE,
                            root, c);
      }
      case Operation::scatterv: {
        const MPI_Count n = static_cast<MPI_Count>(binding.recv_count) * unit;
        void* to = binding.in_place ? MPI_IN_PLACE : out;
        return TUTTI_NATIVE(MPI_Scatterv, MPI_Iscatterv, binding.input, send_counts, send_displs, MPI_BYTE, to, n,
                            MPI_BYTE, root, c);
      }
      case Operation::allgatherv: {
        const MPI_Count n = static_cast<MPI_Count>(binding.send_count) * unit;
        return TUTTI_NATIVE(MPI_Allgatherv, MPI_Iallgatherv, send(), n, MPI_BYTE, out, recv_counts, recv_displs,
                            MPI_BYTE, c);
      }
      case Operation::alltoallv:
        return TUTTI_NATIVE(MPI_Alltoallv, MPI_Ialltoallv, send(), send_counts, send_displs, MPI_BYTE, out, recv_counts,
                            recv_displs, MPI_BYTE, c);
      default:
        return TUTTI_NATIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, send(), out, recv_counts,
                            mpi_datatype(signature.type.kind()), mpi_op(signature.op), c);
    }
  }
#else
  [[nodiscard]] int vector_form() const {
    throw Error(ErrorCode::internal, "a v-form reached the host MPI without large counts");
  }
#endif
};

template <typename Integer>
std::vector<Integer> scaled(std::span<const std::size_t> from, std::size_t unit) {
  std::vector<Integer> to;
  to.reserve(from.size());
  for (const std::size_t value : from) to.push_back(static_cast<Integer>(value * unit));
  return to;
}

NativeCounts native_counts(const Signature& signature, const Binding& binding) {
  const std::size_t unit = signature.operation == Operation::reduce_scatter ? 1 : signature.type.size();
  return {scaled<MPI_Count>(binding.send_counts, unit), scaled<MPI_Count>(binding.recv_counts, unit),
          scaled<MPI_Aint>(binding.send_displs, unit), scaled<MPI_Aint>(binding.recv_displs, unit)};
}

/// Copies the blocks of an exchange that is in place on this rank and has the binding send the copy. MPI wants "in
/// place" on all ranks of an exchange or on none, here each rank decides for itself, and MPICH's two ways do not match:
/// with "in place" a pair that has nothing to exchange still exchanges a message.
ScratchPool::Block copy_in_place(Context& comm, const Signature& signature, Binding& binding) {
  const bool is_exchange = signature.operation == Operation::alltoall || signature.operation == Operation::alltoallv;
  if (!is_exchange || !binding.in_place) return {};
  const std::size_t unit = signature.type.size();
  const bool even = signature.operation == Operation::alltoall;
  const std::size_t total = even ? signature.count * static_cast<std::size_t>(comm.size) : binding.send_copy();
  ScratchPool::Block copy = comm.scratch.acquire(total * unit);
  if (!even)
    binding.copy_sent(unit, copy.data());
  else if (total > 0)
    std::memcpy(copy.data(), binding.input, total * unit);
  binding.input = copy.data();
  binding.in_place = false;
  return copy;
}

}  // namespace

NativeExecution::NativeExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding,
                                 std::chrono::nanoseconds timeout)
    : Execution(std::move(comm), timeout, false), plan_(std::move(plan)), binding_(std::move(binding)) {}

std::string NativeExecution::name() const {
  return std::string(operation_name(plan_->signature.operation)) + " (native)";
}

bool NativeExecution::begin() {
  sent_.block = copy_in_place(comm(), plan_->signature, binding_);
  sent_.counts = native_counts(plan_->signature, binding_);
  check_mpi(NativeCall{comm(), plan_->signature, binding_, sent_.counts, &request_}.run(), name().c_str());
  return false;
}

bool NativeExecution::step() {
  int done = 0;
  check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) comm().scratch.release(std::move(sent_.block));
  return done != 0;
}

void NativeExecution::cancel() noexcept {
  // MPI allows a collective to be neither cancelled nor freed, so it is left to the host MPI, which still reads
  // the counts and the copy.
  request_ = MPI_REQUEST_NULL;
  defer_free(std::move(sent_));
}

void run_native_blocking(Context& comm, const Plan& plan, Binding& binding) {
  comm.check_usable();
  at_turn(comm, plan, [&] {
    ScratchPool::Block copy = copy_in_place(comm, plan.signature, binding);
    NativeCounts counts = native_counts(plan.signature, binding);
    check_mpi(NativeCall{comm, plan.signature, binding, counts, nullptr}.run(),
              operation_name(plan.signature.operation).data());
    comm.scratch.release(std::move(copy));
  });
}

}  // namespace tutti::detail
