// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job in which others die. Run as:
// peers kill|exit|stay blocking|nonblocking|persistent|receive|shrink VICTIM FILE SECONDS
//
// With `stay` the victim waits until somebody takes its host off the network. FILE is one that all ranks see. SECONDS
// is the longest time until the others know. The victim notes the time and ends inside the named call, or in `shrink` a
// second one ends when it should shrink. Each survivor prints the time until it got the error, makes a communicator of
// the survivors and 100 exact sums in it.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

/// What the victim leaves to the survivors.
struct Will {
  double time;
  int process;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void fail(int rank, const std::string& what) {
  std::fprintf(stderr, "peers: rank %d: %s\n", rank, what.c_str());
  std::fflush(nullptr);
  _exit(1);
}

Will& common_will(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 || ftruncate(file, sizeof(Will)) != 0) fail(0, std::string("cannot write ") + path);
  void* base = mmap(nullptr, sizeof(Will), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) fail(0, std::string("cannot map ") + path);
  return *static_cast<Will*>(base);
}

[[noreturn]] void die(const std::string& how) {
  if (how == "kill") std::raise(SIGKILL);
  while (how == "stay") pause();
  _exit(0);
}

/// Sums of ranks, of a length and a form that vary.
class Calls {
 public:
  Calls(const tutti::Communicator& comm, std::string form)
      : comm_(comm), form_(std::move(form)), send_(most), recv_(most) {
    if (form_ == "persistent") persistent_ = tutti::allreduce_init(comm_, send_, recv_, tutti::sum);
  }

  /// Returns false if the sum is wrong. on_start: runs when this rank has begun the call.
  template <typename OnStart>
  bool run(int k, OnStart on_start) {
    const std::size_t count = form_ == "persistent" ? most : lengths[k % 3];
    for (std::size_t i = 0; i < count; ++i) send_[i] = comm_.rank() + k;
    const tutti::ConstBuffer send(send_.data(), count);
    const tutti::Buffer recv(recv_.data(), count);
    if (form_ == "blocking") {
      on_start();
      tutti::allreduce(comm_, send, recv, tutti::sum);
    } else if (form_ == "persistent") {
      persistent_.start();
      on_start();
      persistent_.wait();
    } else {
      tutti::Request request = tutti::iallreduce(comm_, send, recv, tutti::sum);
      on_start();
      request.wait();
    }
    const int size = comm_.size();
    const double expected = size * (size - 1) / 2.0 + size * k;
    for (std::size_t i = 0; i < count; ++i)
      if (recv_[i] != expected) return false;
    return true;
  }

 private:
  static constexpr std::size_t most = 30'000;
  static constexpr std::size_t lengths[] = {1, 500, most};
  const tutti::Communicator& comm_;
  std::string form_;
  std::vector<double> send_, recv_;
  tutti::Request persistent_{};
};

/// Calls until the victim dies in one of them.
void call_until_death(const tutti::Communicator& comm, const std::string& how, const std::string& form, int victim,
                      Will& will) {
  constexpr int last = 40;
  // Messages of the call that fails may still arrive, so its buffers stay.
  auto& calls = *new Calls(comm, form);
  const auto meet_death = [&](int k) {
    if (k != last || comm.rank() != victim) return;
    will = {now(), getpid()};
    die(how);
  };
  for (int k = 0;; ++k)
    if (!calls.run(k, [&] { meet_death(k); })) fail(comm.rank(), "wrong sum before the death");
}

void receive_from_the_dead(const tutti::Communicator& comm, const std::string& how, int victim, Will& will) {
  tutti::barrier(comm);
  if (comm.rank() == victim) {
    will = {now(), getpid()};
    die(how);
  }
  double value = 0;
  tutti::recv(comm, tutti::Buffer(&value, 1), victim, 3);
}

/// second: a rank that may have ended meanwhile, or -1.
void check(const tutti::Error& error, const tutti::Communicator& comm, int victim, int second, const Will& will,
           double longest_seconds) {
  const double seconds = now() - will.time;
  const std::string text = error.what();
  std::string name = "rank " + std::to_string(victim) + " (process " + std::to_string(will.process) + ")";
  if (second >= 0 && text.find("rank " + std::to_string(second) + " (process ") != std::string::npos) name.clear();
  if (error.code() != tutti::ErrorCode::peer_died) fail(comm.rank(), "another error: " + text);
  if (text.find(name) == std::string::npos) fail(comm.rank(), "the text lacks " + name + ": " + text);
  if (seconds > longest_seconds) fail(comm.rank(), "seen only after " + std::to_string(seconds) + " s");
  std::printf("survivor %d: %.1f ms: %s\n", comm.rank(), 1e3 * seconds, text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail(0, "kill|exit, form, victim, file and seconds");
  const std::string how = argv[1];
  const std::string form = argv[2];
  const int victim = std::atoi(argv[3]);
  // It does not call MPI_Finalize, which would wait for the dead.
  const tutti::Environment environment(argc, argv);
  auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  const int old_rank = comm.rank();
  const int second = (victim + 1) % comm.size();
  Will& will = common_will(argv[4]);
  try {
    if (form == "receive")
      receive_from_the_dead(comm, how, victim, will);
    else
      call_until_death(comm, how, form == "shrink" ? "nonblocking" : form, victim, will);
    fail(old_rank, "no error");
  } catch (const tutti::Error& error) {
    check(error, comm, victim, form == "shrink" ? second : -1, will, std::atof(argv[5]));
  }
  try {
    tutti::barrier(comm);
    fail(old_rank, "a later call has no error");
  } catch (const tutti::Error& error) {
    if (error.code() != tutti::ErrorCode::peer_died) fail(old_rank, error.what());
  }
  if (form == "shrink" && old_rank == second) die(how);
  const int dead = form == "shrink" ? 2 : 1;
  const int before = comm.size();
  try {
    comm = comm.shrink();
    if (comm.size() != before - dead) fail(old_rank, "the new communicator has another size");
    int ranks_below = 0;
    for (int r = 0; r < old_rank; ++r) ranks_below += r != victim && (dead == 1 || r != second) ? 1 : 0;
    if (comm.rank() != ranks_below) fail(old_rank, "the order of ranks has changed");
    for (const char* kind : {"blocking", "nonblocking", "persistent"}) {
      Calls calls(comm, kind);
      for (int k = 0; k < 100; ++k)
        if (!calls.run(k, [] {})) fail(old_rank, "wrong sum after the death");
    }
  } catch (const tutti::Error& error) {
    fail(old_rank, error.what());
  }
  std::printf("goes on: %d\n", old_rank);
  return 0;
}
