// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <climits>
#include <tutti/mpi.hpp>

#include "call.hpp"
#include "messages_call.hpp"

namespace tutti::commbench {
namespace {

/// A datatype of the host MPI, and how many of it make one element.
struct MpiType {
  MPI_Datatype type = MPI_BYTE;
  std::size_t units = 1;
};

MPI_Datatype find_type(DatatypeKind kind) {
  for (const MPI_Datatype type : {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
                                  MPI_UINT32_T, MPI_UINT64_T, MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX,
                                  MPI_C_DOUBLE_COMPLEX, MPI_2INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT})
    if (datatype_from(type).kind() == kind) return type;
  return MPI_DATATYPE_NULL;
}

MPI_Op find_operation(ReduceKind kind) {
  for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR,
                          MPI_MINLOC, MPI_MAXLOC})
    if (reduce_op_from(op).kind() == kind) return op;
  return MPI_OP_NULL;
}

void exclusive_or(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  const auto* a = static_cast<const unsigned char*>(in);
  auto* b = static_cast<unsigned char*>(inout);
  for (MPI_Aint i = 0; i < *count * extent; ++i) b[i] = static_cast<unsigned char>(a[i] ^ b[i]);
}

/// One for the whole run: MPI frees it when it is finalized.
MPI_Op user_operation() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(&exclusive_or, 1, &made);
    return made;
  }();
  return op;
}

/// For moving data: MPI's own type, or bytes where it has none.
MpiType mpi_type_to_move(Datatype type) {
  const MPI_Datatype found = find_type(type.kind());
  return found == MPI_DATATYPE_NULL ? MpiType{MPI_BYTE, type.size()} : MpiType{found, 1};
}

/// Throws NotApplicable where MPI has no such type, as mpi_operation() does.
MPI_Datatype mpi_type_to_reduce(Datatype type) {
  const MPI_Datatype found = find_type(type.kind());
  if (found == MPI_DATATYPE_NULL)
    throw NotApplicable(fmt::format("MPI has no datatype {}", datatype_name(type.kind())));
  return found;
}

MPI_Op mpi_operation(ReduceKind kind) {
  if (kind == ReduceKind::user) return user_operation();
  const MPI_Op found = find_operation(kind);
  if (found == MPI_OP_NULL) throw NotApplicable(fmt::format("MPI has no operation {}", reduce_op_name(kind)));
  return found;
}

using Ints = std::vector<int>;

int to_int(std::size_t count) {
  if (count > static_cast<std::size_t>(INT_MAX)) throw NotApplicable("counts above 2^31 - 1 are not passed to MPI");
  return static_cast<int>(count);
}

Ints to_ints(const std::vector<std::size_t>& counts, std::size_t units) {
  Ints result;
  for (const std::size_t count : counts) result.push_back(to_int(count * units));
  return result;
}

class MpiCall final : public MeasuredCall {
 public:
  MpiCall(MPI_Comm comm, const Arguments& a)
      : comm_(comm),
        operation_(a.point.operation),
        mode_(a.point.mode),
        root_(a.world.root),
        send_(a.send),
        recv_(a.recv) {
    std::size_t units = 1;
    if (a.point.op) {
      type_ = mpi_type_to_reduce(a.point.type);
      op_ = mpi_operation(*a.point.op);
    } else {
      const MpiType moved = mpi_type_to_move(a.point.type);
      type_ = moved.type;
      units = moved.units;
    }
    const Shape& shape = *a.shape;
    count_ = to_int(shape.count * units);
    to_int(shape.largest * units);
    send_count_ = to_int(shape.send * units);
    recv_count_ = to_int(shape.recv * units);
    send_counts_ = to_ints(shape.send_counts, units);
    send_displs_ = to_ints(shape.send_displs, units);
    recv_counts_ = to_ints(shape.recv_counts, units);
    recv_displs_ = to_ints(shape.recv_displs, units);
    if (a.in_place) work_in_place(a.world);
    if (mode_ == Mode::persistent) check(issue<Mode::persistent>());
  }
  ~MpiCall() override {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  MpiCall(const MpiCall&) = delete;
  MpiCall& operator=(const MpiCall&) = delete;

  void run() override {
    if (mode_ == Mode::blocking) {
      check(issue<Mode::blocking>());
      return;
    }
    start();
    wait();
  }
  void start() override { check(mode_ == Mode::persistent ? MPI_Start(&request_) : issue<Mode::nonblocking>()); }
  bool test() override {
    int done = 0;
    check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  void wait() override { check(MPI_Wait(&request_, MPI_STATUS_IGNORE)); }

 private:
  static void check(int code) {
    if (code != MPI_SUCCESS) throw std::runtime_error(fmt::format("the host MPI failed with code {}", code));
  }

  void work_in_place(const World& world) {
    const InPlaceSide side = in_place_side(operation_, world);
    if (side == InPlaceSide::recv) recv_ = MPI_IN_PLACE;
    if (side == InPlaceSide::send) send_ = MPI_IN_PLACE;
  }

#if MPI_VERSION >= 4
#define TUTTI_COMMBENCH_INIT(Word, ...) return MPI_##Word##_init(__VA_ARGS__, comm_, MPI_INFO_NULL, &request_);
#else
#define TUTTI_COMMBENCH_INIT(Word, ...) throw NotApplicable("this host MPI has no persistent collectives (MPI 4)");
#endif
#define TUTTI_COMMBENCH_FORMS(Word, word, ...)         \
  if constexpr (form == Mode::blocking) {              \
    return MPI_##Word(__VA_ARGS__, comm_);             \
  } else if constexpr (form == Mode::nonblocking) {    \
    return MPI_I##word(__VA_ARGS__, comm_, &request_); \
  } else {                                             \
    TUTTI_COMMBENCH_INIT(Word, __VA_ARGS__)            \
  }

  template <Mode form>
  int barrier() {
    if constexpr (form == Mode::blocking) return MPI_Barrier(comm_);
    if constexpr (form == Mode::nonblocking) return MPI_Ibarrier(comm_, &request_);
#if MPI_VERSION >= 4
    return MPI_Barrier_init(comm_, MPI_INFO_NULL, &request_);
#else
    throw NotApplicable("this host MPI has no persistent collectives (MPI 4)");
#endif
  }

  template <Mode form>
  int issue() {
    switch (operation_) {
      case Operation::barrier:
        return barrier<form>();
      case Operation::bcast:
        TUTTI_COMMBENCH_FORMS(Bcast, bcast, recv_, count_, type_, root_)
      case Operation::reduce:
        TUTTI_COMMBENCH_FORMS(Reduce, reduce, send_, recv_, count_, type_, op_, root_)
      case Operation::allreduce:
        TUTTI_COMMBENCH_FORMS(Allreduce, allreduce, send_, recv_, count_, type_, op_)
      case Operation::reduce_scatter_block:
        TUTTI_COMMBENCH_FORMS(Reduce_scatter_block, reduce_scatter_block, send_, recv_, count_, type_, op_)
      case Operation::reduce_scatter:
        TUTTI_COMMBENCH_FORMS(Reduce_scatter, reduce_scatter, send_, recv_, recv_counts_.data(), type_, op_)
      case Operation::scan:
        TUTTI_COMMBENCH_FORMS(Scan, scan, send_, recv_, count_, type_, op_)
      case Operation::exscan:
        TUTTI_COMMBENCH_FORMS(Exscan, exscan, send_, recv_, count_, type_, op_)
      case Operation::gather:
        TUTTI_COMMBENCH_FORMS(Gather, gather, send_, count_, type_, recv_, count_, type_, root_)
      case Operation::gatherv:
        TUTTI_COMMBENCH_FORMS(Gatherv, gatherv, send_, send_count_, type_, recv_, recv_counts_.data(),
                              recv_displs_.data(), type_, root_)
      case Operation::scatter:
        TUTTI_COMMBENCH_FORMS(Scatter, scatter, send_, count_, type_, recv_, count_, type_, root_)
      case Operation::scatterv:
        TUTTI_COMMBENCH_FORMS(Scatterv, scatterv, send_, send_counts_.data(), send_displs_.data(), type_, recv_,
                              recv_count_, type_, root_)
      case Operation::allgather:
        TUTTI_COMMBENCH_FORMS(Allgather, allgather, send_, count_, type_, recv_, count_, type_)
      case Operation::allgatherv:
        TUTTI_COMMBENCH_FORMS(Allgatherv, allgatherv, send_, send_count_, type_, recv_, recv_counts_.data(),
                              recv_displs_.data(), type_)
      case Operation::alltoall:
        TUTTI_COMMBENCH_FORMS(Alltoall, alltoall, send_, count_, type_, recv_, count_, type_)
      case Operation::alltoallv:
        TUTTI_COMMBENCH_FORMS(Alltoallv, alltoallv, send_, send_counts_.data(), send_displs_.data(), type_, recv_,
                              recv_counts_.data(), recv_displs_.data(), type_)
    }
    return MPI_ERR_OTHER;
  }
#undef TUTTI_COMMBENCH_FORMS
#undef TUTTI_COMMBENCH_INIT

  MPI_Comm comm_;
  Operation operation_;
  Mode mode_;
  int root_;
  void* send_;
  void* recv_;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Op op_ = MPI_OP_NULL;
  int count_ = 0;
  int send_count_ = 0;
  int recv_count_ = 0;
  Ints send_counts_;
  Ints send_displs_;
  Ints recv_counts_;
  Ints recv_displs_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<MeasuredCall> make_mpi_call(const Communicator& comm, const Arguments& arguments) {
  if (arguments.point.memory == MemorySpace::device || arguments.point.memory == MemorySpace::managed)
    throw NotApplicable("it is unknown whether the host MPI takes device memory, so it gets only host memory");
  const Point& point = arguments.point;
  if (point.traffic)
    return make_mpi_messages_call(comm.mpi_handle(), transfers_of(arguments), point.mode,
                                  arguments.shape->total * point.type.size());
  return std::make_unique<MpiCall>(comm.mpi_handle(), arguments);
}

}  // namespace tutti::commbench
