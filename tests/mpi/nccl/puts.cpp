// SPDX-License-Identifier: BSD-3-Clause
// Persistent v-forms whose pieces are put into the windows of their receivers: "nccl:put".
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "device/traffic.hpp"
#include "mpi/nccl/support.hpp"
#include "mpi/nccl/twins.hpp"

namespace tutti::test {
namespace {

constexpr Operation operations[] = {Operation::alltoallv, Operation::allgatherv, Operation::gatherv,
                                    Operation::scatterv};
constexpr std::size_t room = std::size_t{1} << 16U;

bool has_puts() { return machine().nccl.table().put_signal != nullptr; }

/// Memory in a window of the communicator, of which each rank uses another part.
class Windowed {
 public:
  explicit Windowed(const Communicator& comm)
      : memory_(allocate(comm, room, MemoryKind::device)), skipped_(64 * (1 + static_cast<std::size_t>(comm.rank()))) {}
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.data()) + skipped_; }
  /// As kernels on the stream of the tests would.
  void fill(std::vector<std::byte> content) const {
    machine().runtime.run_host(machine().stream, [to = data(), content = std::move(content)] {
      if (!content.empty()) std::memcpy(to, content.data(), content.size());
    });
  }
  void read(std::vector<std::byte>& result, std::size_t bytes) const {
    machine().runtime.run_host(machine().stream, [from = data(), &result, bytes] {
      result.assign(from, from + bytes);
      std::memset(from, 0xee, bytes);
    });
  }

 private:
  Allocation memory_;
  std::size_t skipped_;
};

Options by_puts() {
  Options options;
  options.algorithm = "nccl:put";
  options.stream = user_stream();
  return options;
}

/// A call that puts, started again and again.
class PutRun {
 public:
  PutRun(const Twin& twin, const Communicator& comm) : twin_(twin), rank_(comm.rank()), send_(comm), recv_(comm) {}

  [[nodiscard]] Request init(const Options& options = by_puts()) const {
    ConstBuffer from(send_.data(), twin_.send, twin_.type, MemoryKind::device);
    if (twin_.in_place) from = in_place;
    return twin_.call(Form::persistent, from, Buffer(recv_.data(), twin_.recv, twin_.type, MemoryKind::device),
                      options);
  }
  void start(Request& request, int i) {
    launch(request, i);
    read(i);
  }
  void launch(Request& request, int i) const {
    send_.fill(content(twin_.send, 0, i));
    recv_.fill(content(twin_.recv, 5, i));
    request.start();
    request.wait(user_stream());
  }
  void read(int i) {
    auto& result = results_.emplace_back();
    EXPECT_EQ(static_cast<int>(results_.size()), i + 1);
    recv_.read(result, twin_.recv * twin_.type.size());
  }
  void compare() const {
    for (int i = 0; i < static_cast<int>(results_.size()); ++i)
      EXPECT_TRUE(results_[static_cast<std::size_t>(i)] == on_host(i))
          << twin_.name << ", start " << i << ", rank " << rank_;
  }

 private:
  [[nodiscard]] std::vector<std::byte> content(std::size_t count, std::size_t salt, int i) const {
    return pattern_bytes(twin_.type, count, rank_, salt, i);
  }
  [[nodiscard]] std::vector<std::byte> on_host(int i) const {
    std::vector<std::byte> send = content(twin_.send, 0, i);
    std::vector<std::byte> recv = content(twin_.recv, 5, i);
    ConstBuffer from(send.data(), twin_.send, twin_.type, MemoryKind::host);
    if (twin_.in_place) from = in_place;
    (void)twin_.call(Form::blocking, from, Buffer(recv.data(), twin_.recv, twin_.type, MemoryKind::host), {});
    return recv;
  }

  const Twin& twin_;
  int rank_;
  Windowed send_;
  Windowed recv_;
  std::deque<std::vector<std::byte>> results_{};  ///< which stay in their places
};

std::size_t calls(const std::string& name) {
  const auto& all = machine().nccl.record();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& call) { return call.starts_with(name + "("); }));
}

class Puts : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)machine();
    if (!has_puts()) GTEST_SKIP() << "this version has no puts";
  }
  void TearDown() override {
    machine().drain();
    meet();
  }
  [[nodiscard]] static const Communicator& comm() { return device_communicators().front(); }
};

/// Nobody waits for one start before the next.
TEST_F(Puts, EqualHostMemoryStartAfterStart) {
  constexpr int starts = 4;
  for (const Communicator& comm : device_communicators())
    for (const Operation operation : operations)
      for (const std::size_t count : {0U, 7U, 1000U})
        for (const Datatype type : {Datatype(DatatypeKind::float32), Datatype::bytes(3)}) {
          const Twin call = twin(operation, {comm, type, sum, count, comm.size() - 1, false});
          PutRun run(call, comm);
          Request request = run.init();
          for (int i = 0; i < starts; ++i) run.start(request, i);
          machine().drain();
          run.compare();
          request = Request();
        }
}

/// Their signals are counted together.
TEST_F(Puts, OfSeveralRequestsTakeTurns) {
  for (const Communicator& comm : device_communicators()) {
    std::vector<Twin> twins;
    std::vector<std::unique_ptr<PutRun>> runs;
    std::vector<Request> requests;
    for (int root = 0; root < comm.size(); ++root)
      for (const Operation operation : operations)
        twins.push_back(twin(operation, {comm, DatatypeKind::int32, sum, 50, root, false}));
    for (const Twin& one : twins) {
      runs.push_back(std::make_unique<PutRun>(one, comm));
      requests.push_back(runs.back()->init());
    }
    for (int i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < runs.size(); ++k)
        runs[(k * 5) % runs.size()]->start(requests[(k * 5) % runs.size()], i);
    machine().drain();
    for (const auto& run : runs) run->compare();
    requests.clear();
  }
}

TEST_F(Puts, InPlaceWhereTheInputIsSentFromItsPlace) {
  const Twin gathered = twin(Operation::allgatherv, {comm(), DatatypeKind::float64, sum, 100, 0, true});
  PutRun run(gathered, comm());
  Request request = run.init();
  for (int i = 0; i < 3; ++i) run.start(request, i);
  machine().drain();
  run.compare();
  if (comm().size() == 1) return;
  const Twin exchanged = twin(Operation::alltoallv, {comm(), DatatypeKind::float64, sum, 100, 0, true});
  const PutRun refused(exchanged, comm());
  const std::string why = failure_of(ErrorCode::invalid_algorithm, [&] { (void)refused.init(); });
  EXPECT_NE(why.find("rank 0: in place"), std::string::npos) << why;
}

/// The pieces of rank r for rank p: of r + p elements, none to the next rank.
Twin uneven(const Communicator& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto pieces = [&](std::size_t from, std::size_t to) { return (from + 1) % size == to ? 0 : from + to + 1; };
  Layout send;
  Layout recv;
  for (std::size_t peer = 0; peer < size; ++peer) {
    send.counts.push_back(pieces(rank, peer));
    recv.counts.push_back(pieces(peer, rank));
  }
  for (Layout* layout : {&send, &recv})
    for (const std::size_t count : layout->counts) {
      layout->displs.push_back(layout->extent);
      layout->extent += count;
    }
  Twin t;
  t.name = "uneven alltoallv";
  t.type = DatatypeKind::int64;
  t.send = send.extent;
  t.recv = t.compared = recv.extent;
  t.call = [s = std::make_shared<Layout>(send), r = std::make_shared<Layout>(recv), &comm](
               Form form, ConstBuffer from, Buffer to, const Options& options) -> Request {
    if (form == Form::persistent)
      return alltoallv_init(comm, from, s->counts, s->displs, to, r->counts, r->displs, options);
    alltoallv(comm, from, s->counts, s->displs, to, r->counts, r->displs, options);
    return {};
  };
  return t;
}

TEST_F(Puts, LaunchNoKernelsAndEachPieceOnce) {
  const auto others = static_cast<std::size_t>(comm().size() - 1);
  const std::size_t pieces = others > 0 ? others - 1 : 0;  // none to the next rank
  const Twin call = uneven(comm());
  PutRun run(call, comm());
  Request request = run.init();
  run.start(request, 0);
  machine().drain();
  machine().nccl.clear_record();
  run.start(request, 1);
  EXPECT_EQ(calls("put_signal"), pieces);
  EXPECT_EQ(calls("signal"), pieces) << "to those that put here";
  EXPECT_EQ(calls("wait_signal"), pieces > 0 ? 2U : 0U);
  for (const char* kernel : {"send", "recv", "all_reduce", "all_gather", "broadcast", "all_to_all"})
    EXPECT_EQ(calls(kernel), 0U) << kernel;
  machine().drain();
  run.compare();
  EXPECT_EQ(machine().nccl.in_flight(), 0);
}

void poll_for(std::chrono::milliseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    (void)machine().runtime.run_some();
    progress();
  }
}

/// All others have started everything. Rank 0 still writes its buffers, then still reads what came.
TEST_F(Puts, WaitForTheReceiver) {
  if (comm().size() == 1) GTEST_SKIP();
  constexpr int starts = 3;
  constexpr std::chrono::milliseconds long_enough{50};
  const Twin call = twin(Operation::allgatherv, {comm(), DatatypeKind::int32, sum, 200, 0, false});
  PutRun run(call, comm());
  Request request = run.init();
  for (int i = 0; i < starts; ++i) {
    if (comm().rank() != 0) {
      run.start(request, i);
      continue;
    }
    const Gate writes(machine().stream);
    run.launch(request, i);
    const Gate reads(machine().stream);
    run.read(i);
    poll_for(long_enough);
    writes.open->store(true);
    poll_for(long_enough);
    reads.open->store(true);
  }
  machine().drain();
  run.compare();
}

void expect_refusal(const PutRun& run, const std::string& part) {
  const std::string why = failure_of(ErrorCode::invalid_algorithm, [&] { (void)run.init(); });
  EXPECT_NE(why.find(part), std::string::npos) << why;
}

TEST_F(Puts, OfMemoryOutsideOfWindowsAreRefusedOnAllRanks) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank copies";
  const int last = comm().size() - 1;
  // 20 / (1 + place % 4) elements, none at places 1 and 4.
  if (last % 3 == 1) GTEST_SKIP() << "the last rank's piece is empty";
  const Twin call = twin(Operation::allgatherv, {comm(), DatatypeKind::int32, sum, 20, 0, false});
  const DeviceMemory outside(call.send * call.type.size());
  const PutRun run(call, comm());
  Twin moved = call;
  moved.call = [&](Form form, ConstBuffer from, Buffer to, const Options& options) {
    if (comm().rank() == last) from = ConstBuffer(outside.data(), call.send, call.type, MemoryKind::device);
    return call.call(form, from, to, options);
  };
  const PutRun partly(moved, comm());
  expect_refusal(partly, "rank " + std::to_string(last) + ": a buffer lies in no window");
  Request request = run.init();
}

TEST_F(Puts, WithoutHostRmaOnOneRankAreRefusedOnAll) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank copies";
  const Twin call = twin(Operation::alltoallv, {comm(), DatatypeKind::int32, sum, 20, 0, false});
  PutRun run(call, comm());
  machine().nccl.set_host_rma(comm().rank() != 0);
  expect_refusal(run, "rank 0: NCCL has no puts");
  machine().nccl.set_host_rma(true);
  Request request = run.init();
  run.start(request, 0);
  machine().drain();
  run.compare();
}

TEST_F(Puts, OfOtherLengthsThanExpectedAreAMismatch) {
  if (comm().size() == 1) GTEST_SKIP();
  const std::vector<std::size_t> sent(static_cast<std::size_t>(comm().size()), comm().rank() == 0 ? 5 : 4);
  const std::vector<std::size_t> expected(sent.size(), 4);
  std::vector<std::size_t> displs(sent.size());
  for (std::size_t i = 0; i < displs.size(); ++i) displs[i] = 8 * i;
  const Windowed from(comm());
  const Windowed to(comm());
  const std::size_t extent = 8 * sent.size();
  const std::string why = failure_of(ErrorCode::mismatch, [&] {
    (void)alltoallv_init(comm(), ConstBuffer(from.data(), extent, DatatypeKind::float32, MemoryKind::device), sent,
                         displs, Buffer(to.data(), extent, DatatypeKind::float32, MemoryKind::device), expected, displs,
                         by_puts());
  });
  EXPECT_NE(why.find("rank 0: sends 20 bytes to rank "), std::string::npos) << why;
}

TEST_F(Puts, AreForPersistentCalls) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank copies";
  const Twin call = twin(Operation::allgatherv, {comm(), DatatypeKind::int32, sum, 20, 0, false});
  const DeviceMemory send(call.send * 4);
  const DeviceMemory recv(call.recv * 4);
  const std::string why = failure_of(ErrorCode::invalid_algorithm, [&] {
    (void)call.call(Form::blocking, device_buffer(send, call.type), device_buffer(recv, call.type), by_puts());
  });
  EXPECT_NE(why.find("only persistent calls put"), std::string::npos) << why;
}

TEST_F(Puts, AreNotCaptured) {
  if (comm().size() == 1) GTEST_SKIP() << "one rank copies";
  const Twin call = twin(Operation::allgatherv, {comm(), DatatypeKind::int32, sum, 20, 0, false});
  PutRun run(call, comm());
  Request request = run.init();
  run.start(request, 0);
  machine().drain();
  machine().runtime.begin_capture(machine().stream);
  const std::string why = failure_of(ErrorCode::not_supported, [&] {
    request.start();
    request.wait(user_stream());
  });
  EXPECT_NE(why.find("capture"), std::string::npos) << why;
  const std::string at_init = failure_of(ErrorCode::invalid_algorithm, [&] { (void)run.init(); });
  EXPECT_NE(at_init.find("capture"), std::string::npos) << at_init;
  machine().runtime.destroy_graph(machine().runtime.end_capture(machine().stream));
  Request again = run.init();
  run.start(again, 1);
  machine().drain();
  run.compare();
}

/// The window of a receiver needs the part of the sender, which has nothing in it.
TEST_F(Puts, OfRanksThatHaveFreedTheirPartOfTheWindowAreErrors) {
  if (comm().size() < 3) GTEST_SKIP() << "the piece of rank 1 is empty";
  const Communicator own = Communicator::duplicate(MPI_COMM_WORLD);
  own.prepare_device();
  const Twin call = twin(Operation::gatherv, {own, DatatypeKind::int32, sum, 20, 0, false});
  const Windowed from(own);
  std::optional<Windowed> into(own);
  Request request = call.call(Form::persistent, ConstBuffer(from.data(), call.send, call.type, MemoryKind::device),
                              Buffer(into->data(), call.recv, call.type, MemoryKind::device), by_puts());
  const bool sends = own.rank() != 0 && call.send > 0;
  if (sends) into.reset();
  try {
    request.start();
    request.wait();
    EXPECT_FALSE(sends || own.rank() == 0) << "nothing failed";
  } catch (const Error& error) {
    if (sends) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find("has freed its part"), std::string::npos) << error.what();
    }
  }
  machine().drain();
}

/// NCCL of an older version: groups make the call, and the name is refused.
TEST(WithoutPuts, CallsAreMadeByGroups) {
  (void)machine();
  if (has_puts()) GTEST_SKIP() << "this version has puts";
  const Communicator& comm = device_communicators().front();
  const Twin call = twin(Operation::alltoallv, {comm, DatatypeKind::int32, sum, 100, 0, false});
  PutRun run(call, comm);
  if (comm.size() > 1) expect_refusal(run, "puts need NCCL 2.30");
  Options options;
  options.stream = user_stream();
  Request request = run.init(options);
  for (int i = 0; i < 2; ++i) run.start(request, i);
  machine().drain();
  run.compare();
  EXPECT_EQ(calls("put_signal"), 0U);
}

/// The stand-in holds callers to NCCL's rules. Broken rules are only written down from here on.
TEST_F(Puts, BrokenRulesAreSeen) {
  if (comm().size() == 1) GTEST_SKIP();
  using detail::nccl::DataType;
  using detail::nccl::Result;
  detail::nccl::Comm& under = detail::nccl::state_of(*comm().state())->comm();
  const Windowed memory(comm());
  const DeviceMemory outside(64);
  const auto spot = under.spot_of(memory.data(), 4);
  ASSERT_TRUE(spot);
  auto* const window = under.window_of_range(under.range_of_window(spot->window));
  ASSERT_NE(window, nullptr);
  EXPECT_FALSE(under.spot_of(memory.data(), room)) << "beyond the end";
  const auto& table = machine().nccl.table();
  void* stream = machine().stream;
  const int peer = (comm().rank() + 1) % comm().size();
  const auto put = [&](const void* from, int to, void* into, std::size_t offset, int index, unsigned flags) {
    return table.put_signal(from, 4, DataType::uint8, to, into, offset, index, 0, flags, under.handle(), stream);
  };
  machine().nccl.expect_violations();
  const std::lock_guard lock(detail::device::Traffic::of(0).launch_mutex());
  const std::size_t before = machine().nccl.violations().size();
  EXPECT_EQ(put(outside.data(), peer, window, 0, 0, 0), Result::invalid_usage) << "from no window";
  EXPECT_EQ(put(memory.data(), peer, stream, 0, 0, 0), Result::invalid_usage) << "into no window";
  EXPECT_EQ(put(memory.data(), peer, window, room - 2, 0, 0), Result::invalid_usage) << "beyond the end";
  EXPECT_EQ(put(memory.data(), peer, window, 0, 1, 0), Result::invalid_usage) << "an index";
  EXPECT_EQ(put(memory.data(), peer, window, 0, 0, 1), Result::invalid_usage) << "flags";
  EXPECT_EQ(put(memory.data(), comm().rank(), window, 0, 0, 0), Result::invalid_usage) << "to itself";
  EXPECT_EQ(table.signal(peer, 0, 1, 0, under.handle(), stream), Result::invalid_usage) << "a context";
  EXPECT_EQ(table.wait_signal(0, nullptr, under.handle(), stream), Result::invalid_usage) << "for nobody";
  EXPECT_EQ(machine().nccl.violations().size(), before + 8);
}

}  // namespace
}  // namespace tutti::test
