// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/calibrate.hpp"

#include <vector>

#include "core/mpi_call.hpp"
#include "core/stopwatch.hpp"

namespace tutti::detail {
namespace {

constexpr int calibration_tag = 0;
constexpr int short_bytes = 8;
constexpr int long_bytes = 64 << 10;

class Messages {
 public:
  Messages(MPI_Comm comm, int rank, int partner)
      : comm_(comm), partner_(partner), is_first_(rank < partner), memory_(long_bytes) {}

  /// Half the time of a message there and back.
  [[nodiscard]] double one_way(int bytes, int times) {
    return lower_quartile(times, [&] {
      const Stopwatch watch;
      if (is_first_) send(bytes);
      receive(bytes);
      if (!is_first_) send(bytes);
      return watch.seconds() / 2;
    });
  }
  /// The time that the last short sends took until they returned.
  [[nodiscard]] double gap() const { return gap_; }

 private:
  void send(int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    const Stopwatch watch;
    check_mpi(MPI_Isend(memory_.data(), bytes, MPI_BYTE, partner_, calibration_tag, comm_, &request), "MPI_Isend");
    const double took = watch.seconds();
    if (bytes == short_bytes && (gap_ == 0 || took < gap_)) gap_ = took;
    wait_yielding(request, "MPI_Isend");
  }
  void receive(int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(memory_.data(), bytes, MPI_BYTE, partner_, calibration_tag, comm_, &request), "MPI_Irecv");
    int done = 0;
    for (int looks = 1; done == 0; ++looks) {
      constexpr int looks_before_yield = 1000;
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0 && looks % looks_before_yield == 0) sched_yield();
    }
  }

  MPI_Comm comm_;
  int partner_;
  bool is_first_;
  std::vector<char> memory_;
  double gap_ = 0;
};

}  // namespace

void calibrate_messages(Context& context, Costs& costs) {
  const int half = context.size / 2;
  const bool is_alone = half == 0 || context.rank >= 2 * half;
  if (is_alone || context.topology.nodes > 1 || context.topology.oversubscribed) return;
  Messages messages(context.collective, context.rank, (context.rank + half) % (2 * half));
  (void)messages.one_way(short_bytes, 5);
  costs.message = messages.one_way(short_bytes, 16);
  costs.message_gap = messages.gap();
  costs.message_byte = messages.one_way(long_bytes, 5) / long_bytes;
}

}  // namespace tutti::detail
