// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/calibrate.hpp"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "core/mpi_call.hpp"
#include "core/stopwatch.hpp"

namespace tutti::detail {
namespace {

constexpr int short_bytes = 8;
constexpr int long_bytes = message_lengths.back();

class Messages {
 public:
  Messages(const Context& context, int partner)
      : comm_(context.point_to_point),
        tag_(2 * context.tag_half),
        partner_(partner),
        is_first_(context.rank < partner),
        outgoing_(long_bytes),
        incoming_(long_bytes) {}

  /// Half the time of a message there and back.
  [[nodiscard]] double one_way(int times) {
    return least_of(times, [&] {
      const Stopwatch watch;
      if (is_first_) send();
      wait(receive(short_bytes, incoming_.data()));
      if (!is_first_) send();
      return watch.seconds() / 2;
    });
  }
  /// The time of a message there and one back at the same time, as the rounds of most schedules have them: of data that
  /// this rank has just copied or combined, which the partner's core does not have in its caches.
  [[nodiscard]] double exchange(int bytes, int times) {
    char content = 0;
    return median_of(times, [&] {
      std::fill_n(outgoing_.begin(), bytes, ++content);
      const Stopwatch watch;
      MPI_Request incoming = receive(bytes, incoming_.data());
      MPI_Request outgoing = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(outgoing_.data(), bytes, MPI_BYTE, partner_, tag_, comm_, &outgoing), "MPI_Isend");
      wait(incoming);
      wait(outgoing);
      return watch.seconds();
    });
  }
  /// The least time that a short send took until it returned.
  [[nodiscard]] double gap() const { return gap_; }

 private:
  void send() {
    MPI_Request request = MPI_REQUEST_NULL;
    const Stopwatch watch;
    check_mpi(MPI_Isend(outgoing_.data(), short_bytes, MPI_BYTE, partner_, tag_, comm_, &request), "MPI_Isend");
    const double took = watch.seconds();
    if (gap_ == 0 || took < gap_) gap_ = took;
    wait(request);
  }
  [[nodiscard]] MPI_Request receive(int bytes, char* to) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(to, bytes, MPI_BYTE, partner_, tag_, comm_, &request), "MPI_Irecv");
    return request;
  }
  static void wait(MPI_Request request) {
    int done = 0;
    for (int looks = 1; done == 0; ++looks) {
      constexpr int looks_before_yield = 1000;
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0 && looks % looks_before_yield == 0) sched_yield();
    }
  }

  MPI_Comm comm_;
  int tag_;  ///< of no message of the caller, whose other ranks may be ahead
  int partner_;
  bool is_first_;
  std::vector<char> outgoing_;
  std::vector<char> incoming_;
  double gap_ = 0;
};

}  // namespace

void calibrate_messages(Context& context, Costs& costs, Calibration kind) {
  if (kind == Calibration::check) return;
  const int half = context.size / 2;
  if (context.rank >= 2 * half) return;
  Messages messages(context, (context.rank + half) % (2 * half));
  (void)messages.one_way(5);
  costs.message = messages.one_way(17);
  costs.message_gap = messages.gap();
  const auto byte = [&](int bytes, int times) {
    constexpr double least = 1e-9;  // of a whole message: 0 would mean that nothing was measured
    return std::max(messages.exchange(bytes, times) - costs.message, least) / bytes;
  };
  constexpr int first_messages = 80;  // through memory of the MPI that is fresh
  (void)messages.exchange(message_lengths[0], first_messages);
  costs.message_short_byte = byte(message_lengths[0], 15);
  costs.message_byte = byte(message_lengths[1], 5);
}

}  // namespace tutti::detail
