// SPDX-License-Identifier: BSD-3-Clause
// A program whose runs are compared: the same data of all ranks together for every number of ranks, but for the fault
// that the argument plants.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tutti::Communicator;
using Values = std::vector<double>;

constexpr std::size_t elements = 96;  // of all ranks together, which 1 to 4 divide
constexpr int steps = 4;
constexpr int faulty_step = 2;

struct Program {
  const Communicator& comm;
  const Communicator& ring;
  std::string_view fault;
  int step = 0;

  [[nodiscard]] bool has(std::string_view name) const { return step == faulty_step && fault == name; }
  [[nodiscard]] bool is_last() const { return comm.rank() == comm.size() - 1; }
  [[nodiscard]] bool owns(std::size_t element) const { return element / (elements / ranks()) == rank(); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(comm.size()); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(comm.rank()); }

  /// This rank's part of the vector, and zeros elsewhere: sums have the same bits for all numbers of ranks.
  [[nodiscard]] Values contribution() const {
    Values x(elements);
    const std::size_t own = elements / ranks();
    for (std::size_t i = own * rank(); i < own * (rank() + 1); ++i) x[i] = static_cast<double>(i * i) + 0.1 * step;
    return x;
  }
  [[nodiscard]] Values block() const {
    const Values x = contribution();
    const auto own = static_cast<std::ptrdiff_t>(elements / ranks());
    return {x.begin() + own * comm.rank(), x.begin() + own * (comm.rank() + 1)};
  }

  void broadcast() const {
    Values x(elements, step);
    if (has("bcast") && comm.rank() == 0) x[5] = -1;
    tutti::bcast(comm, x, 0);
  }
  void reduce_all() const {
    Values x = contribution();
    if (has("rank") && owns(37)) x[37] += 1e-9;
    tutti::allreduce(comm, x, tutti::sum);
    x = contribution();
    if (has("request") && comm.rank() == 0) x[95] = 3;
    tutti::iallreduce(comm, x, tutti::sum).wait();
  }
  /// Roundings depend on the order of the ranks, which is that of the algorithm.
  void round() const {
    Values x(elements, 0.1 * (comm.rank() + 1));
    tutti::allreduce(comm, x, tutti::sum);
  }
  void gather() const {
    Values own = block();
    if (has("gather") && is_last()) own[0] = -1;
    Values all(elements);
    tutti::allgather(comm, own, all);
    // The blocks lie in reverse order, with a gap between them that has other data in each run.
    const std::size_t stride = own.size() + 1;
    Values spread(stride * ranks(), fault.empty() ? 0 : 1);
    std::vector<std::size_t> counts(ranks(), own.size());
    std::vector<std::size_t> displs(ranks());
    for (std::size_t i = 0; i < ranks(); ++i) displs[i] = stride * (ranks() - 1 - i);
    tutti::gatherv(comm, own, spread, counts, displs, 0);
    tutti::scatter(comm, all, own, 0);
  }
  /// Every other element; the ones between are no data.
  void strided() const {
    Values x(2 * elements, fault.empty() ? 0 : 1);
    const Values data = contribution();
    for (std::size_t i = 0; i < elements; ++i) x[2 * i] = data[i];
    if (has("strided") && comm.rank() == 0) x[2 * 95] = -1;
    tutti::allreduce(comm, tutti::in_place, tutti::Buffer(x.data(), tutti::Layout::vector(elements, 1, 2)), tutti::sum);
  }
  void scatter_sums() const {
    Values part(elements / ranks());
    tutti::reduce_scatter_block(comm, contribution(), part, tutti::sum);
    Values mine(ranks(), static_cast<double>(comm.rank()));
    Values theirs(ranks());
    tutti::alltoall(comm, mine, theirs);
    Values before(2, comm.rank());
    tutti::exscan(comm, tutti::in_place, before, tutti::sum);
  }
  void neighbors() const {
    Values x(4, comm.rank());
    if (has("neighbor") && is_last()) x[2] = -1;
    Values around(2 * x.size());
    tutti::neighbor_allgather(ring, x, around);
  }
  /// Another thread writes the vector without waiting for the call, earlier or later than it.
  void race() const {
    Values x = contribution();
    std::thread other([&] {
      if (has("race")) std::this_thread::sleep_for(200ms);
      if (owns(50)) std::atomic_ref(x[50]).store(-1, std::memory_order_relaxed);
    });
    if (step == faulty_step) std::this_thread::sleep_for(50ms);
    if (step != faulty_step) other.join();
    Values y(elements);
    tutti::allreduce(comm, x, y, tutti::sum);
    if (step == faulty_step) other.join();
  }
  /// An operation that adds the rank: results differ between ranks.
  void own_operation() const {
    double more = has("operation") ? comm.rank() : 0;
    const auto add = [](const void* in, void* inout, std::size_t count, tutti::Datatype, void* context) {
      const auto* a = static_cast<const double*>(in);
      auto* b = static_cast<double*>(inout);
      for (std::size_t i = 0; i < count; ++i) b[i] += a[i] + (i == 90 ? *static_cast<double*>(context) : 0);
    };
    Values x = contribution();
    tutti::Options options;
    options.algorithm = "mpi:recursive_doubling";
    tutti::allreduce(comm, tutti::in_place, x, tutti::ReduceOp::user(add, &more), options);
  }

  void run() {
    Values kept(elements);
    tutti::Request persistent = tutti::bcast_init(comm, kept, 0);
    for (; step < steps; ++step) {
      broadcast();
      reduce_all();
      if (fault == "order") round();
      gather();
      strided();
      scatter_sums();
      neighbors();
      race();
      own_operation();
      kept.assign(elements, step);
      if (has("persistent") && comm.rank() == 0) kept[64] = -1;
      persistent.start();
      persistent.wait();
    }
    if (fault == "longer") tutti::barrier(comm);
    if (fault == "other" || fault == "another") other_call();
  }
  void other_call() const {
    Values x(elements);
    if (fault == "other")
      tutti::bcast(comm, x, 0);
    else
      tutti::allreduce(comm, x, tutti::sum);
  }
};

/// More calls than the smallest recorder holds.
void call_often(const Communicator& comm, bool is_faulty) {
  for (int i = 0; i < 100; ++i) {
    double x = is_faulty && i == 3 ? 2 : 1;
    tutti::bcast(comm, std::span(&x, 1), 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const std::string fault = argc > 1 ? argv[1] : "";
  {
    tutti::CommunicatorOptions options;
    options.name = "first";
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
    int size = comm.size();
    int periodic = 1;
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
    options.name = "ring";
    const Communicator ring = Communicator::duplicate(cart, options);
    Program{comm, ring, fault}.run();
    if (fault.starts_with("often")) call_often(comm, fault == "often_faulty");
    MPI_Comm_free(&cart);
  }
  MPI_Finalize();
}
