// SPDX-License-Identifier: BSD-3-Clause
// MPI's rule of progress: collectives that are under way go on in every MPI call in which a rank waits or tests. One
// rank begins some and waits in such a call for a message that another one sends after it has ended its own.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "preload/world.hpp"

namespace tutti::test {
namespace {

constexpr int tag = 7;
constexpr int most = 20000;  // values of a call, more than a slot of shared memory holds

/// A wait for a message of a rank that the waiting one does not answer, except by the MPI's own progress.
struct Wait {
  const char* name;
  std::function<void(int&, int, MPI_Comm)> receive;
};

MPI_Request posted(int& word, int from, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&word, 1, MPI_INT, from, tag, comm, &request);
  return request;
}

const std::vector<Wait>& waits() {
  static const std::vector<Wait> all {
    {"Recv",
     [](int& word, int from, MPI_Comm comm) { MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE); }},
        {"Sendrecv",
         [](int& word, int from, MPI_Comm comm) {
           int none = 0;
           MPI_Sendrecv(&none, 1, MPI_INT, MPI_PROC_NULL, tag, &word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
         }},
#if MPI_VERSION >= 4
        {"SendrecvReplace",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Sendrecv_replace(&word, 1, MPI_INT, MPI_PROC_NULL, tag, from, tag, comm, MPI_STATUS_IGNORE);
         }},
#endif
        {"Ssend",
         [](int& word, int from, MPI_Comm comm) {
           int none = 0;
           MPI_Ssend(&none, 1, MPI_INT, from, tag + 1, comm);
           MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
         }},
        {"Probe",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Probe(from, tag, comm, MPI_STATUS_IGNORE);
           MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
         }},
        {"Mprobe",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Message message = MPI_MESSAGE_NULL;
           MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE);
           MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
         }},
        {"Iprobe",
         [](int& word, int from, MPI_Comm comm) {
           int flag = 0;
           while (flag == 0) MPI_Iprobe(from, tag, comm, &flag, MPI_STATUS_IGNORE);
           MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
         }},
        {"Wait",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Request request = posted(word, from, comm);
           MPI_Wait(&request, MPI_STATUS_IGNORE);
         }},
        {"Waitall",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Request request = posted(word, from, comm);
           MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
         }},
        {"Waitany",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Request request = posted(word, from, comm);
           int index = -1;
           MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
         }},
        {"Waitsome",
         [](int& word, int from, MPI_Comm comm) {
           MPI_Request request = posted(word, from, comm);
           int number = 0;
           int index = -1;
           MPI_Waitsome(1, &request, &number, &index, MPI_STATUSES_IGNORE);
         }},
        {"Test", [](int& word, int from, MPI_Comm comm) {
           MPI_Request request = posted(word, from, comm);
           for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
         }},
  };
  return all;
}

void larger(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const double*>(in);
  auto* b = static_cast<double*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = std::max(a[i], b[i]);
}

/// Collectives under way, the requests of which are ended by MPI_Wait.
class Calls {
 public:
  Calls(const std::string& kind, const ReversedWorld& comm) : comm_(comm), mine_(most), result_(most) {
    for (int i = 0; i < most; ++i) mine_[static_cast<std::size_t>(i)] = comm.rank() + i;
    if (kind == "Persistent") {
      begin_persistent();
    } else if (kind == "User") {
      MPI_Op op = MPI_OP_NULL;
      MPI_Op_create(larger, 1, &op);
      begin(most, op);
      MPI_Op_free(&op);
    } else {
      constexpr int many = 40;
      for (int i = 0; i < many; ++i) begin(1, MPI_MAX);
    }
  }
  void end() {
    for (MPI_Request& request : requests_) MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < checked_; ++i)
      EXPECT_EQ(result_[static_cast<std::size_t>(i)], (is_many_ ? 0 : i) + comm_.size() - 1);
#if MPI_VERSION >= 4
    if (is_persistent_) MPI_Request_free(requests_.data());
#endif
  }

 private:
  void begin(int count, MPI_Op op) {
    is_many_ = count == 1;
    double* to = is_many_ ? &result_[requests_.size()] : result_.data();
    checked_ += count;
    MPI_Iallreduce(mine_.data(), to, count, MPI_DOUBLE, op, comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  void begin_persistent() {
#if MPI_VERSION >= 4
    is_persistent_ = true;
    checked_ = most;
    MPI_Allreduce_init(mine_.data(), result_.data(), most, MPI_DOUBLE, MPI_MAX, comm_.get(), MPI_INFO_NULL,
                       &requests_.emplace_back(MPI_REQUEST_NULL));
    MPI_Start(requests_.data());
#else
    begin(most, MPI_MAX);
#endif
  }

  const ReversedWorld& comm_;
  std::vector<double> mine_;
  std::vector<double> result_;
  std::vector<MPI_Request> requests_{};
  int checked_ = 0;
  bool is_many_ = false;
  [[maybe_unused]] bool is_persistent_ = false;
};

using Case = std::tuple<const char*, std::size_t>;

class Progress : public testing::TestWithParam<Case> {};

TEST_P(Progress, GoesOnWhereARankWaits) {
  const auto& [kind, number] = GetParam();
  const Wait& wait = waits()[number];
  const ReversedWorld comm;
  const int last = comm.size() - 1;
  if (last == 0) GTEST_SKIP() << "one rank waits for nobody";
  MPI_Barrier(comm.get());
  Calls calls(kind, comm);
  int word = 0;
  if (comm.rank() == 0) wait.receive(word, last, comm.get());
  calls.end();
  if (comm.rank() == last) {
    int sent = 5;
    if (std::string(wait.name) == "Ssend") MPI_Recv(&word, 1, MPI_INT, 0, tag + 1, comm.get(), MPI_STATUS_IGNORE);
    MPI_Send(&sent, 1, MPI_INT, 0, tag, comm.get());
  }
  if (comm.rank() == 0) {
    EXPECT_EQ(word, 5);
  }
}

/// Nothing takes steps while a rank makes a communicator.
TEST(ProgressElsewhere, ANonblockingCallGoesOnWhereARankMakesACommunicator) {
  const ReversedWorld comm;
  const ReversedWorld whole;
  MPI_Barrier(comm.get());
  Calls calls("User", comm);
  if (comm.rank() != 0) calls.end();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(whole.get(), 0, 0, &part);
  if (comm.rank() == 0) calls.end();
  MPI_Comm_free(&part);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::string(std::get<0>(info.param)) + waits()[std::get<1>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(All, Progress,
                         testing::Combine(testing::Values("Persistent", "User", "Many"),
                                          testing::Range(std::size_t{0}, waits().size())),
                         name_of);

}  // namespace
}  // namespace tutti::test
