// SPDX-License-Identifier: BSD-3-Clause
// Every call of the public interface is in the flight recorder, with the facts by which ranks can be compared.
#include "diagnosis/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "call/context.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using namespace detail::flight;

/// The recorder of this process, as another process sees it.
class View {
 public:
  View()
      : bytes_(size_of_recorder()),
        memory_(static_cast<const std::byte*>(
            mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, Recorder::instance()->descriptor(), 0))),
        parts_(memory_) {}
  ~View() { munmap(const_cast<std::byte*>(memory_), bytes_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  [[nodiscard]] const Header& header() const { return *parts_.header; }
  [[nodiscard]] std::uint64_t calls() const { return parts_.header->next.load(); }
  [[nodiscard]] const Entry& call(std::uint64_t number) const { return parts_.entries[number % header().entries]; }
  [[nodiscard]] const Entry& last() const { return call(calls()); }
  [[nodiscard]] const CommunicatorRow& communicator(const Facts& facts) const {
    return parts_.communicators[row_of(facts.communicator)];
  }
  [[nodiscard]] std::string text(TextNumber number) const {
    return number == 0 ? "" : parts_.texts[number - 1].text.data();
  }

 private:
  static std::size_t size_of_recorder() {
    return static_cast<std::size_t>(lseek(Recorder::instance()->descriptor(), 0, SEEK_END));
  }
  std::size_t bytes_;
  const std::byte* memory_;
  Parts<const std::byte> parts_;
};

const Communicator& world() { return communicators().front(); }

std::vector<std::uint64_t> all_have(std::uint64_t mine) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world().size()));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  return all;
}

TEST(FlightRecorder, KnowsItsProcess) {
  (void)world();
  const View view;
  EXPECT_EQ(view.header().process, getpid());
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_EQ(view.header().world_rank, rank);
  EXPECT_EQ(view.header().world_size, world().size());
  EXPECT_NE(view.header().job, 0U);
  for (const std::uint64_t job : all_have(view.header().job)) EXPECT_EQ(job, view.header().job);
}

TEST(FlightRecorder, WritesABlockingCollective) {
  const View view;
  std::vector<float> x(10, 1.0F);
  for (int time = 0; time < 3; ++time) {
    allreduce(world(), x, sum);
    const Entry& entry = view.last();
    EXPECT_EQ(entry.number.load(), view.calls());
    EXPECT_EQ(entry.facts.call, Call::allreduce);
    EXPECT_EQ(entry.facts.form, Form::blocking);
    EXPECT_EQ(entry.state.load(), State::done);
    EXPECT_GT(entry.end.load(), entry.begin);
    EXPECT_EQ(entry.facts.bytes, 40U);
    EXPECT_EQ(entry.facts.type, static_cast<std::uint8_t>(DatatypeKind::float32));
    EXPECT_EQ(entry.facts.op, static_cast<std::uint8_t>(ReduceKind::sum));
    EXPECT_EQ(entry.facts.peer, -1);
    EXPECT_NE(view.text(entry.facts.way), "");
    const CommunicatorRow& row = view.communicator(entry.facts);
    EXPECT_EQ(row.rank, world().rank());
    EXPECT_EQ(row.size, world().size());
    EXPECT_EQ(row.sequence.load(), entry.facts.sequence);
    for (const std::uint64_t sequence : all_have(entry.facts.sequence)) EXPECT_EQ(sequence, entry.facts.sequence);
    for (const std::uint64_t mark : all_have(row.mark.load())) EXPECT_EQ(mark, row.mark.load());
  }
}

// A call by the plan of an earlier one gives its data before it looks at the clock.
TEST(FlightRecorder, KnowsTheTimesOfCallsThatRepeat) {
  const View view;
  int x = world().rank();
  constexpr int calls_on_trial = 1000;
  for (int i = 0; i < calls_on_trial; ++i) bcast(world(), Buffer(&x, 1), 0);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(1ms);
    const std::uint64_t before = ticks();
    bcast(world(), Buffer(&x, 1), 0);
    const std::uint64_t after = ticks();
    const Entry& entry = view.last();
    EXPECT_EQ(entry.state.load(), State::done);
    EXPECT_EQ(entry.facts.call, Call::bcast);
    EXPECT_EQ(entry.facts.sequence, view.call(view.calls() - 1).facts.sequence + 1);
    EXPECT_TRUE(before <= entry.begin && entry.begin <= entry.end.load() && entry.end.load() <= after) << i;
  }
}

TEST(FlightRecorder, KnowsTheWayOfANeighborhoodCollective) {
  MPI_Comm cart = MPI_COMM_NULL;
  const int size = world().size();
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
  const Communicator ring = Communicator::adopt(cart);
  const View view;
  std::vector<float> got(2);
  neighbor_allgather(ring, std::vector<float>{1}, got);
  const Entry& entry = view.last();
  EXPECT_EQ(entry.facts.call, Call::neighbor_allgather);
  EXPECT_EQ(view.text(entry.facts.way), ring.state()->machine().shared_memory ? "shm:slots" : "");
}

TEST(FlightRecorder, WritesTheRoot) {
  const View view;
  std::vector<int> x(3, 1);
  bcast(world(), x, world().size() - 1);
  EXPECT_EQ(view.last().facts.call, Call::bcast);
  EXPECT_EQ(view.last().facts.peer, world().size() - 1);
  EXPECT_EQ(view.last().facts.op, 0U);
  barrier(world());
  EXPECT_EQ(view.last().facts.call, Call::barrier);
  EXPECT_EQ(view.last().facts.type, 0U);
}

TEST(FlightRecorder, FollowsANonblockingCollective) {
  const View view;
  std::vector<float> x(1000, 1.0F);
  Request request = iallreduce(world(), x, sum);
  const std::uint64_t number = view.calls();
  EXPECT_EQ(view.call(number).facts.call, Call::allreduce);
  EXPECT_EQ(view.call(number).facts.form, Form::nonblocking);
  EXPECT_TRUE(view.call(number).state.load() == State::outstanding || view.call(number).state.load() == State::done);
  request.wait();
  EXPECT_EQ(view.call(number).state.load(), State::done);
  EXPECT_NE(view.call(number).end.load(), 0U);
}

TEST(FlightRecorder, WritesEveryStart) {
  const View view;
  std::vector<float> x(8, 1.0F);
  Request request = allreduce_init(world(), in_place, x, sum);
  const Entry& init = view.last();
  EXPECT_EQ(init.facts.form, Form::init);
  EXPECT_EQ(init.state.load(), State::done);
  const std::uint32_t sequence = init.facts.sequence;
  for (int time = 0; time < 2; ++time) {
    const std::uint64_t before = view.calls();
    request.start();
    EXPECT_EQ(view.calls(), before + 1);
    const std::uint64_t number = view.calls();
    EXPECT_EQ(view.call(number).facts.form, Form::start);
    EXPECT_EQ(view.call(number).facts.sequence, sequence);
    request.wait();
    EXPECT_EQ(view.call(number).state.load(), State::done);
  }
}

TEST(FlightRecorder, SaysThatTheProgramWaits) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const View view;
  int x = world().rank();
  if (world().rank() == 0) {
    Request request = irecv(world(), {&x, 1}, 1, 5);
    const std::uint64_t number = view.calls();
    EXPECT_EQ(view.call(number).state.load(), State::outstanding);
    std::thread looks([&] {
      for (int i = 0; i < 1000 && view.call(number).state.load() != State::waiting; ++i)
        std::this_thread::sleep_for(1ms);
      EXPECT_EQ(view.call(number).state.load(), State::waiting);
    });
    request.wait();
    looks.join();
    EXPECT_EQ(view.call(number).facts.call, Call::recv);
    EXPECT_EQ(view.call(number).facts.peer, 1);
    EXPECT_EQ(view.call(number).facts.tag, 5);
    EXPECT_EQ(view.call(number).facts.sequence, 0U);
    EXPECT_EQ(view.call(number).state.load(), State::done);
  } else if (world().rank() == 1) {
    std::this_thread::sleep_for(200ms);
    send(world(), {&x, 1}, 0, 5);
    EXPECT_EQ(view.last().facts.call, Call::send);
    EXPECT_EQ(view.last().facts.peer, 0);
    EXPECT_EQ(view.last().facts.tag, 5);
    EXPECT_EQ(view.last().facts.bytes, sizeof x);
  }
}

TEST(FlightRecorder, SaysThatACallHasFailed) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const Communicator own = Communicator::duplicate(MPI_COMM_WORLD);
  const View view;
  if (own.rank() == 0) {
    Options options;
    options.timeout = 50ms;
    EXPECT_THROW(barrier(own, options), Error);
    EXPECT_EQ(view.last().facts.call, Call::barrier);
    EXPECT_EQ(view.last().state.load(), State::failed);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(FlightRecorder, TellsPartsApart) {
  const View view;
  const Communicator part = world().split(world().rank() % 2, 0);
  barrier(part);
  const std::uint64_t mine = view.communicator(view.last().facts).mark.load();
  const std::vector<std::uint64_t> marks = all_have(mine);
  for (std::size_t rank = 0; rank < marks.size(); ++rank)
    EXPECT_EQ(marks[rank] == mine, rank % 2 == static_cast<std::size_t>(world().rank()) % 2) << rank;
}

/// Descriptors of recorders that this process has.
int held() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    count += std::filesystem::read_symlink(entry, error).string().find(RecorderMemory::file_name) != std::string::npos;
  }
  return count;
}

TEST(FlightRecorder, IsHeldByTheNextRank) {
  (void)world();
  EXPECT_EQ(held(), world().size() == 1 ? 1 : 2);
}

}  // namespace
}  // namespace tutti::test
