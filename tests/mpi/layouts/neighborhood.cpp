// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives on two emulated nodes (MPICH's MPIR_CVAR_NUM_CLIQUES=2): blocks for ranks of this node go
// through its memory, the others are messages, which this program counts. Ends as skipped where all ranks are on one
// node.
#include <tutti/collectives/neighborhood.hpp>

#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <span>

#include "backends/neighborhood.hpp"
#include "call/context.hpp"
#include "mpi/collectives/movement.hpp"
#include "mpi/collectives/neighborhoods.hpp"
#include "support/meet.hpp"

namespace tutti::test {
namespace {

MPI_Comm counted = MPI_COMM_NULL;  ///< whose messages are counted
std::map<int, int> sent;           ///< by their receivers
int looks = 0;                     ///< into the host MPI
bool refuses_files = false;
bool refuses_pages = false;
int pages_refused = 0;

}  // namespace
}  // namespace tutti::test

// The program's own functions are found before the host MPI's and the C library's.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (comm == tutti::test::counted) ++tutti::test::sent[to];
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  ++tutti::test::looks;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
extern "C" int ftruncate(int file, off_t bytes) noexcept {
  using Function = int (*)(int, off_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "ftruncate"));
  if (!tutti::test::refuses_files) return next(file, bytes);
  errno = ENOSPC;
  return -1;
}
extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
  using Function = int (*)(void*, size_t, int);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "madvise"));
  constexpr int populate_write = 23;
  if (!tutti::test::refuses_pages || advice != populate_write || bytes == 0) return next(address, bytes, advice);
  ++tutti::test::pages_refused;
  errno = ENOMEM;
  return -1;
}

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

Options limited(std::chrono::milliseconds limit = 20s) {
  Options options;
  options.timeout = limit;
  return options;
}

int node_of(const Communicator& comm, int rank) { return comm.topology().places[static_cast<std::size_t>(rank)].node; }
bool is_near(const Communicator& comm, int rank) { return node_of(comm, rank) == node_of(comm, comm.rank()); }
int ranks_here(const Communicator& comm) {
  return comm.topology().ranks_per_node[static_cast<std::size_t>(node_of(comm, comm.rank()))];
}

/// The last node that has several ranks; the rank is one of them, or its first one.
int shared_node(const Communicator& comm) {
  const std::vector<int>& ranks = comm.topology().ranks_per_node;
  const auto last = std::find_if(ranks.rbegin(), ranks.rend(), [](int n) { return n > 1; });
  return static_cast<int>(ranks.rend() - last) - 1;
}
int first_of(const Communicator& comm, int node, int skipped = 0) {
  for (int r = 0; r < comm.size(); ++r)
    if (node_of(comm, r) == node && skipped-- == 0) return r;
  return proc_null;
}

/// Whether the blocks for ranks of this node go through memory: this program runs with and without it.
bool shares_memory(const Communicator& comm) { return comm.state()->node != nullptr; }

class Nodes : public ::testing::Test {
 protected:
  void SetUp() override {
    const Communicator& comm = communicators().front();
    if (comm.topology().nodes == 1) GTEST_SKIP() << "all ranks are on one node: this MPI does not emulate several";
    const char* wanted = std::getenv("TUTTI_SHM");
    const bool may_share = wanted == nullptr || std::string(wanted) != "0";
    const bool shares = may_share && ranks_here(comm) > 1;
    ASSERT_EQ(shares_memory(comm), shares);
    ASSERT_EQ(detail::neighbor_way(*comm.state()), shares ? "shm:slots+messages" : "");
  }
};
/// Of tests that need the memory of a node.
class SharedNodes : public Nodes {
 protected:
  void SetUp() override {
    Nodes::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (!communicators().front().state()->node_memory.is_shared) GTEST_SKIP() << "no two ranks share memory";
  }
};

/// Counts the messages of a communicator from now on.
void count_messages(const Communicator& comm) {
  counted = comm.state()->messages.get();
  ASSERT_NE(counted, MPI_COMM_NULL);
  sent.clear();
}

enum class Form { allgather, allgatherv, alltoall, alltoallv, alltoallw };
constexpr Form forms[] = {Form::allgather, Form::allgatherv, Form::alltoall, Form::alltoallv, Form::alltoallw};

/// A neighborhood collective of any form; in the forms with counts each block has a length of its own, some are empty.
class Exchange {
 public:
  Exchange(const Place& place, Form form, std::size_t count) : place_(place), form_(form), count_(count) {
    const bool sends_one = form == Form::allgather || form == Form::allgatherv;
    for (std::size_t b = 0; b < (sends_one ? 1 : place.destinations); ++b)
      send_counts_.push_back(sends_one || place.is_sent(b) ? length_of(place.comm.rank(), b) : count);
    for (const Origin& o : place.origins)
      recv_counts_.push_back(o.rank == proc_null ? count : length_of(o.rank, sends_one ? 0 : o.block));
    send_displs_ = displs_of(send_counts_, send_);
    recv_displs_ = displs_of(recv_counts_, recv_);
    if (form != Form::alltoallw) return;
    for (std::size_t b = 0; b < send_counts_.size(); ++b)
      send_blocks_.emplace_back(send_.data() + send_displs_[b], send_counts_[b]);
    for (std::size_t b = 0; b < recv_counts_.size(); ++b)
      recv_blocks_.emplace_back(recv_.data() + recv_displs_[b], recv_counts_[b]);
  }
  void run(Mode mode) {
    exercise(
        mode, [&] { blocking(); }, [&] { return nonblocking(); }, [&] { return init(); },
        [&](int i) {
          fill(i);
          count_messages(place_.comm);
        },
        [&](int i) { verify(i); });
    counted = MPI_COMM_NULL;
  }

 private:
  [[nodiscard]] std::size_t length_of(int from, std::size_t block) const {
    if (form_ == Form::allgather || form_ == Form::alltoall) return count_;
    const std::size_t mixed = static_cast<std::size_t>(from) + 2 * block;
    return mixed % 5 == 4 ? 0 : count_ / (1 + mixed % 3);
  }
  static std::vector<std::size_t> displs_of(const std::vector<std::size_t>& counts, std::vector<double>& data) {
    std::vector<std::size_t> displs;
    std::size_t end = 0;
    for (const std::size_t n : counts) {
      displs.push_back(end);
      end += n;
    }
    data.resize(end);
    return displs;
  }
  void blocking() {
    const Communicator& c = place_.comm;
    if (form_ == Form::allgather) neighbor_allgather(c, send_, recv_, limited());
    if (form_ == Form::allgatherv) neighbor_allgatherv(c, send_, recv_, recv_counts_, recv_displs_, limited());
    if (form_ == Form::alltoall) neighbor_alltoall(c, send_, recv_, limited());
    if (form_ == Form::alltoallv)
      neighbor_alltoallv(c, send_, send_counts_, send_displs_, recv_, recv_counts_, recv_displs_, limited());
    if (form_ == Form::alltoallw) neighbor_alltoallw(c, send_blocks_, recv_blocks_, limited());
  }
  Request nonblocking() {
    const Communicator& c = place_.comm;
    if (form_ == Form::allgather) return ineighbor_allgather(c, send_, recv_, limited());
    if (form_ == Form::allgatherv) return ineighbor_allgatherv(c, send_, recv_, recv_counts_, recv_displs_, limited());
    if (form_ == Form::alltoall) return ineighbor_alltoall(c, send_, recv_, limited());
    if (form_ == Form::alltoallv)
      return ineighbor_alltoallv(c, send_, send_counts_, send_displs_, recv_, recv_counts_, recv_displs_, limited());
    return ineighbor_alltoallw(c, send_blocks_, recv_blocks_, limited());
  }
  Request init() {
    const Communicator& c = place_.comm;
    if (form_ == Form::allgather) return neighbor_allgather_init(c, send_, recv_, limited());
    if (form_ == Form::allgatherv)
      return neighbor_allgatherv_init(c, send_, recv_, recv_counts_, recv_displs_, limited());
    if (form_ == Form::alltoall) return neighbor_alltoall_init(c, send_, recv_, limited());
    if (form_ == Form::alltoallv)
      return neighbor_alltoallv_init(c, send_, send_counts_, send_displs_, recv_, recv_counts_, recv_displs_,
                                     limited());
    return neighbor_alltoallw_init(c, send_blocks_, recv_blocks_, limited());
  }
  void fill(int i) {
    for (std::size_t b = 0; b < send_counts_.size(); ++b)
      place(send_, send_displs_[b], block_of<double>(place_.comm.rank(), b, send_counts_[b], i));
    std::fill(recv_.begin(), recv_.end(), -1.0);
  }
  void verify(int i) const {
    std::vector<double> expected(recv_.size(), -1.0);
    const bool sends_one = form_ == Form::allgather || form_ == Form::allgatherv;
    for (std::size_t b = 0; b < place_.origins.size(); ++b)
      if (const Origin& o = place_.origins[b]; o.rank != proc_null)
        place(expected, recv_displs_[b], block_of<double>(o.rank, sends_one ? 0 : o.block, recv_counts_[b], i));
    EXPECT_EQ(recv_, expected) << "iteration " << i;
    EXPECT_EQ(sent, messages()) << "iteration " << i;
  }
  /// One a block that is not empty. In memory are the blocks for a rank that fit the slot beside those for the ranks
  /// before it.
  [[nodiscard]] std::map<int, int> messages() const {
    const std::span<const int> to = neighborhood(place_.comm).destinations;
    std::map<int, std::vector<std::size_t>> blocks;
    std::vector<int> order;
    for (std::size_t b = 0; b < to.size(); ++b) {
      if (to[b] == proc_null || to[b] == place_.comm.rank()) continue;
      if (blocks[to[b]].empty()) order.push_back(to[b]);
      blocks[to[b]].push_back(send_counts_[send_counts_.size() == 1 ? 0 : b] * sizeof(double));
    }
    std::map<int, int> all;
    std::size_t room = 32768;
    for (const int peer : order) {
      std::size_t bytes = 0;
      for (const std::size_t block : blocks[peer]) bytes += block;
      const auto n =
          static_cast<int>(std::count_if(blocks[peer].begin(), blocks[peer].end(), [](auto x) { return x > 0; }));
      const bool is_in_memory = shares_memory(place_.comm) && is_near(place_.comm, peer) && bytes <= room;
      if (is_in_memory && bytes > 32) room -= (bytes + 63) / 64 * 64;
      if (!is_in_memory && n > 0) all[peer] = n;
    }
    return all;
  }

  const Place& place_;
  Form form_;
  std::size_t count_;
  std::vector<double> send_, recv_;
  std::vector<std::size_t> send_counts_, send_displs_, recv_counts_, recv_displs_;
  std::vector<ConstBuffer> send_blocks_;
  std::vector<Buffer> recv_blocks_;
};

/// Of lengths around what a line and a slot hold, so that some blocks find no room while others do.
TEST_F(Nodes, OnlyBlocksForOtherNodesAreMessages) {
  for (const Place& place : places())
    for (const Form form : forms)
      for (const std::size_t count : {1U, 4U, 500U, 2048U, 9000U})
        for (const Mode mode : modes) {
          SCOPED_TRACE(place.name + ", form " + std::to_string(static_cast<int>(form)) + ", count " +
                       std::to_string(count) + ", mode " + std::to_string(static_cast<int>(mode)));
          Exchange(place, form, count).run(mode);
        }
}

/// A graph of edges from each rank to those for which is_edge(from, to) is true.
template <typename IsEdge>
Place graph(const IsEdge& is_edge) {
  std::vector<int> to;
  std::vector<int> from;
  Place place;
  for (int r = 0; r < world_size(); ++r) {
    if (is_edge(world_rank(), r)) to.push_back(r);
    if (!is_edge(r, world_rank())) continue;
    from.push_back(r);
    std::size_t block = 0;
    for (int before = 0; before < world_rank(); ++before) block += is_edge(r, before) ? 1 : 0;
    place.origins.push_back({r, block});
  }
  place.destinations = to.size();
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  place.comm = Communicator::adopt(made);
  return place;
}
Place all_with_all() {
  return graph([](int a, int b) { return a != b; });
}
Place all_of_a_node() {
  const Communicator& comm = communicators().front();
  return graph([&](int a, int b) { return a != b && node_of(comm, a) == node_of(comm, b); });
}

/// Calls of neighbours and of all ranks, whose phases use the same memory, and starts of persistent calls in another
/// order on each rank.
TEST_F(Nodes, BesideOtherCalls) {
  const Place p = all_with_all();
  const int n = p.comm.size();
  Options by_leaders = limited();
  by_leaders.algorithm = "hierarchical";
  const std::size_t sizes[] = {3, 700};
  std::vector<std::vector<double>> kept_send(4), kept_recv(4);
  std::vector<Request> kept;
  for (std::size_t k = 0; k < 4; ++k) {
    kept_send[k].resize(p.destinations * sizes[k % 2]);
    kept_recv[k].resize(p.destinations * sizes[k % 2]);
    kept.push_back(neighbor_alltoall_init(p.comm, kept_send[k], kept_recv[k], limited()));
  }
  for (int i = 0; i < 20; ++i) {
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t b = 0; b < p.destinations; ++b)
        place(kept_send[k], b * sizes[k % 2],
              block_of<double>(p.comm.rank(), b, sizes[k % 2], i + static_cast<int>(k)));
    for (std::size_t k = 0; k < 4; ++k) kept[p.comm.rank() % 2 == 0 ? k : 3 - k].start();
    std::vector<double> send(p.destinations), recv(p.destinations);
    for (std::size_t b = 0; b < p.destinations; ++b) send[b] = 100 * p.comm.rank() + static_cast<int>(b) + i;
    Request request = ineighbor_alltoall(p.comm, send, recv, limited());
    std::vector<int> data(2000, p.comm.rank() + i);
    allreduce(p.comm, data, sum, by_leaders);
    EXPECT_EQ(data, std::vector<int>(2000, n * i + n * (n - 1) / 2));
    request.wait();
    for (std::size_t b = 0; b < p.origins.size(); ++b)
      EXPECT_EQ(recv[b], 100 * p.origins[b].rank + static_cast<int>(p.origins[b].block) + i);
    for (std::size_t k = 0; k < 4; ++k) {
      kept[k].wait();
      std::vector<double> expected;
      for (const Origin& o : p.origins)
        for (const double x : block_of<double>(o.rank, o.block, sizes[k % 2], i + static_cast<int>(k)))
          expected.push_back(x);
      EXPECT_EQ(kept_recv[k], expected) << "start " << i << " of " << k;
    }
  }
}

/// Two ranks of a node, and one of another that is a neighbour of the first, the bridge.
struct Three {
  int bridge = 0, near = 0, far = 0;
  Place place;
};
Three three() {
  const Communicator& comm = communicators().front();
  const int node = shared_node(comm);
  Three t{first_of(comm, node), first_of(comm, node, 1), first_of(comm, node == 0 ? 1 : 0), {}};
  const auto joins = [&](int a, int b, int end) { return (a == t.bridge && b == end) || (a == end && b == t.bridge); };
  t.place = graph([&](int a, int b) { return joins(a, b, t.near) || joins(a, b, t.far); });
  return t;
}

/// More calls than there are cells. One rank begins when another has ended all.
void many_calls(const Place& p, int late, int early) {
  constexpr std::size_t calls = 30;
  const int me = p.comm.rank();
  char word = 0;
  if (me == late) MPI_Recv(&word, 1, MPI_CHAR, early, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<std::vector<int>> recv(calls, std::vector<int>(p.origins.size() * 20));
  std::vector<std::vector<int>> send;
  std::vector<Request> requests;
  for (std::size_t k = 0; k < calls; ++k) {
    send.emplace_back(20, 1000 * me + static_cast<int>(k));
    requests.push_back(ineighbor_allgather(p.comm, send[k], recv[k], limited()));
  }
  try {
    for (Request& request : requests) request.wait();
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  if (me == early) MPI_Send(&word, 1, MPI_CHAR, late, 5, MPI_COMM_WORLD);
  for (std::size_t k = 0; k < calls; ++k)
    for (std::size_t b = 0; b < p.origins.size(); ++b)
      EXPECT_EQ(recv[k][b * 20 + 19], 1000 * p.origins[b].rank + static_cast<int>(k));
}

TEST_F(SharedNodes, RanksOfANodeGoOnWithoutAnother) {
  const Three t = three();
  many_calls(t.place, t.far, t.near);
}
TEST_F(SharedNodes, RanksOfAnotherNodeGoOnWithoutOneOfThisNode) {
  const Three t = three();
  many_calls(t.place, t.near, t.far);
}

/// A rank whose messages have come and that waits for its node still lets the host MPI go on.
TEST_F(SharedNodes, AWaitForTheNodeLooksIntoTheHostMpi) {
  const Three t = three();
  const Place& p = t.place;
  const int me = p.comm.rank();
  const bool is_late = me == t.near || me == t.far;
  std::vector<int> send(10, me), recv(10 * p.origins.size());
  char word = 0;
  if (is_late) MPI_Recv(&word, 1, MPI_CHAR, t.bridge, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Request request = ineighbor_allgather(p.comm, send, recv, limited());
  if (me == t.bridge) {
    looks = 0;
    MPI_Send(&word, 1, MPI_CHAR, t.far, 6, MPI_COMM_WORLD);
    for (const auto end = std::chrono::steady_clock::now() + 10s; looks == 0 && std::chrono::steady_clock::now() < end;)
      EXPECT_FALSE(request.test());
    EXPECT_GT(looks, 0);
    MPI_Send(&word, 1, MPI_CHAR, t.near, 6, MPI_COMM_WORLD);
  }
  request.wait();
  for (std::size_t b = 0; b < p.origins.size(); ++b) EXPECT_EQ(recv[10 * b], p.origins[b].rank);
}

/// One node has no shared memory: the ranks of all nodes agree on messages.
TEST_F(SharedNodes, WithoutMemoryOnOneNodeAllAreMessages) {
  const Communicator& comm = communicators().front();
  refuses_files = node_of(comm, comm.rank()) == shared_node(comm);
  const Place p = all_with_all();
  refuses_files = false;
  EXPECT_FALSE(shares_memory(p.comm));
  for (const Form form : forms)
    for (const Mode mode : modes) Exchange(p, form, 300).run(mode);
}

/// Pages that a call needs and does not get are no error: the blocks are messages.
TEST_F(SharedNodes, WithoutRoomForASlotBlocksAreMessages) {
  const Place p = all_with_all();
  const int poor = first_of(p.comm, shared_node(p.comm));
  refuses_pages = p.comm.rank() == poor;
  for (const Mode mode : modes) {
    std::vector<double> send(p.destinations * 100), recv(p.origins.size() * 100);
    exercise(
        mode, [&] { neighbor_alltoall(p.comm, send, recv, limited()); },
        [&] { return ineighbor_alltoall(p.comm, send, recv, limited()); },
        [&] {
          refuses_pages = false;  // the cells are not the slots
          Request made = neighbor_alltoall_init(p.comm, send, recv, limited());
          refuses_pages = p.comm.rank() == poor;
          return made;
        },
        [&](int i) {
          for (std::size_t b = 0; b < p.destinations; ++b)
            place(send, b * 100, block_of<double>(p.comm.rank(), b, 100, i));
          count_messages(p.comm);
        },
        [&](int i) {
          for (std::size_t b = 0; b < p.origins.size(); ++b) {
            const auto at = recv.begin() + static_cast<std::ptrdiff_t>(b * 100);
            EXPECT_EQ(std::vector<double>(at, at + 100),
                      block_of<double>(p.origins[b].rank, p.origins[b].block, 100, i));
          }
          for (int r = 0; r < p.comm.size(); ++r) {
            const bool is_message = r != p.comm.rank() && (p.comm.rank() == poor || !is_near(p.comm, r));
            EXPECT_EQ(sent.contains(r), is_message) << "to " << r;
          }
        });
  }
  refuses_pages = false;
  counted = MPI_COMM_NULL;
  if (p.comm.rank() == poor) {
    EXPECT_GT(pages_refused, 0);
  }
}

/// A rank that cannot get the cells of a persistent call leaves nobody waiting, on its node or another.
TEST_F(SharedNodes, WithoutRoomForCellsAllHearOfIt) {
  const Place p = all_with_all();
  const int poor = first_of(p.comm, shared_node(p.comm));
  std::vector<int> send(p.destinations), recv(p.origins.size());
  ErrorCode code = ErrorCode::success;
  refuses_pages = p.comm.rank() == poor;
  try {
    Request request = neighbor_alltoall_init(p.comm, send, recv, limited());
    refuses_pages = false;
    request.start();
    request.wait();
  } catch (const Error& error) {
    refuses_pages = false;
    code = error.code();
  }
  if (p.comm.rank() == poor) {
    EXPECT_EQ(code, ErrorCode::out_of_memory);
  } else {
    EXPECT_TRUE(code == ErrorCode::out_of_memory || code == ErrorCode::aborted) << static_cast<int>(code);
  }
  meet();
}

TEST_F(SharedNodes, ARefusalReachesTheNode) {
  const Place p = all_of_a_node();
  const int refuser = first_of(p.comm, shared_node(p.comm));
  std::vector<int> send(p.destinations), recv(p.origins.size());
  std::string text;
  try {
    const bool refuses = p.comm.rank() == refuser;
    neighbor_alltoall(p.comm, send, Buffer(refuses ? nullptr : recv.data(), recv.size()), limited());
  } catch (const Error& error) {
    text = error.what();
  }
  if (p.comm.rank() == refuser) {
    EXPECT_NE(text.find("null pointer"), std::string::npos) << text;
  } else if (is_near(p.comm, refuser)) {
    EXPECT_NE(text.find("has refused its neighbor_alltoall"), std::string::npos) << text;
    EXPECT_NE(text.find("node " + std::to_string(shared_node(p.comm))), std::string::npos) << text;
  } else {
    EXPECT_EQ(text, "");
  }
  meet();
}

TEST_F(SharedNodes, BlocksOfTwoSizesAreAMismatch) {
  const Place p = all_of_a_node();
  const int giver = first_of(p.comm, shared_node(p.comm));
  const int taker = first_of(p.comm, shared_node(p.comm), 1);
  std::vector<std::byte> send(40 * p.destinations), recv(40 * p.origins.size());
  std::string text;
  try {
    const std::size_t bytes = p.comm.rank() == giver ? 36 * p.destinations : send.size();
    neighbor_alltoall(p.comm, ConstBuffer(send.data(), bytes), recv, limited());
  } catch (const Error& error) {
    text = error.what();
    EXPECT_TRUE(is_near(p.comm, giver)) << text;
  }
  if (p.comm.rank() == taker) {
    const std::string expected = "rank " + std::to_string(giver) + " sends rank " + std::to_string(taker) +
                                 " 36 bytes, but that rank expects 40";
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
  meet();
}

}  // namespace
}  // namespace tutti::test
