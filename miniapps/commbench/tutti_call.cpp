// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/tutti.hpp>

#include "call.hpp"
#include "messages_call.hpp"
#include "pattern.hpp"

namespace tutti::commbench {
namespace {

class TuttiCall final : public MeasuredCall {
 public:
  TuttiCall(const Communicator& comm, const Arguments& arguments, const std::string& algorithm)
      : comm_(comm),
        operation_(arguments.point.operation),
        mode_(arguments.point.mode),
        root_(arguments.world.root),
        op_(arguments.point.op ? Pattern::operation(*arguments.point.op, arguments.world.rank)
                               : ReduceOp(ReduceKind::sum)),
        shape_(*arguments.shape),
        send_(arguments.send, shape_.send, arguments.point.type, kind_of(arguments.point.memory)),
        recv_(arguments.recv, shape_.recv, arguments.point.type, kind_of(arguments.point.memory)) {
    options_.memory = kind_of(arguments.point.memory);
    options_.algorithm = algorithm;
    options_.stream = arguments.stream;
    options_.accumulation = arguments.accumulation;
    if (arguments.in_place) work_in_place(arguments.world);
    if (mode_ == Mode::persistent) request_ = issue<Mode::persistent>();
  }

  void run() override {
    if (mode_ == Mode::blocking) {
      (void)issue<Mode::blocking>();
      return;
    }
    start();
    wait();
  }
  void start() override {
    if (mode_ == Mode::persistent)
      request_.start();
    else
      request_ = issue<Mode::nonblocking>();
  }
  bool test() override { return request_.test(); }
  void wait() override { request_.wait(); }
  void order() override { request_.wait(options_.stream); }

 private:
  void work_in_place(const World& world) {
    const InPlaceSide side = in_place_side(operation_, world);
    const OperationTraits& row = traits_of(operation_);
    if (side == InPlaceSide::recv) recv_ = in_place;
    if (side == InPlaceSide::send) send_ = in_place;
    const bool scatters_sums = row.combined == Combined::all && row.given != BlockKind::one;
    if (scatters_sums) recv_.count = shape_.send;
  }

#define TUTTI_COMMBENCH_FORMS(word, ...)            \
  if constexpr (form == Mode::blocking) {           \
    tutti::word(comm_, __VA_ARGS__);                \
    return {};                                      \
  } else if constexpr (form == Mode::nonblocking) { \
    return tutti::i##word(comm_, __VA_ARGS__);      \
  } else {                                          \
    return tutti::word##_init(comm_, __VA_ARGS__);  \
  }

  template <Mode form>
  Request issue() {
    switch (operation_) {
      case Operation::barrier:
        TUTTI_COMMBENCH_FORMS(barrier, options_)
      case Operation::bcast:
        TUTTI_COMMBENCH_FORMS(bcast, recv_, root_, options_)
      case Operation::reduce:
        TUTTI_COMMBENCH_FORMS(reduce, send_, recv_, op_, root_, options_)
      case Operation::allreduce:
        TUTTI_COMMBENCH_FORMS(allreduce, send_, recv_, op_, options_)
      case Operation::reduce_scatter_block:
        TUTTI_COMMBENCH_FORMS(reduce_scatter_block, send_, recv_, op_, options_)
      case Operation::reduce_scatter:
        TUTTI_COMMBENCH_FORMS(reduce_scatter, send_, recv_, shape_.recv_counts, op_, options_)
      case Operation::scan:
        TUTTI_COMMBENCH_FORMS(scan, send_, recv_, op_, options_)
      case Operation::exscan:
        TUTTI_COMMBENCH_FORMS(exscan, send_, recv_, op_, options_)
      case Operation::gather:
        TUTTI_COMMBENCH_FORMS(gather, send_, recv_, root_, options_)
      case Operation::gatherv:
        TUTTI_COMMBENCH_FORMS(gatherv, send_, recv_, shape_.recv_counts, shape_.recv_displs, root_, options_)
      case Operation::scatter:
        TUTTI_COMMBENCH_FORMS(scatter, send_, recv_, root_, options_)
      case Operation::scatterv:
        TUTTI_COMMBENCH_FORMS(scatterv, send_, shape_.send_counts, shape_.send_displs, recv_, root_, options_)
      case Operation::allgather:
        TUTTI_COMMBENCH_FORMS(allgather, send_, recv_, options_)
      case Operation::allgatherv:
        TUTTI_COMMBENCH_FORMS(allgatherv, send_, recv_, shape_.recv_counts, shape_.recv_displs, options_)
      case Operation::alltoall:
        TUTTI_COMMBENCH_FORMS(alltoall, send_, recv_, options_)
      case Operation::alltoallv:
        TUTTI_COMMBENCH_FORMS(alltoallv, send_, shape_.send_counts, shape_.send_displs, recv_, shape_.recv_counts,
                              shape_.recv_displs, options_)
    }
    return {};
  }
#undef TUTTI_COMMBENCH_FORMS

  const Communicator& comm_;
  Operation operation_;
  Mode mode_;
  int root_;
  ReduceOp op_;
  const Shape& shape_;
  ConstBuffer send_;
  Buffer recv_;
  Options options_{};
  Request request_{};
};

}  // namespace

std::unique_ptr<MeasuredCall> make_tutti_call(const Communicator& comm, const Arguments& arguments,
                                              const std::string& algorithm) {
  const Point& point = arguments.point;
  if (point.traffic && !algorithm.empty())
    throw NotApplicable("Tutti's messages have no algorithms; name auto among --algorithms");
  if (point.traffic)
    return make_messages_call(comm, transfers_of(arguments), point.mode, point.memory, arguments.stream);
  return std::make_unique<TuttiCall>(comm, arguments, algorithm);
}

}  // namespace tutti::commbench
