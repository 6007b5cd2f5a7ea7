// SPDX-License-Identifier: BSD-3-Clause
// Ranks that make different calls at one turn: an error on all of them that names both sides, and no byte written
// outside a buffer.
#include <algorithm>
#include <numeric>
#include <thread>

#include "mpi/shm/work.hpp"
#include "support/heap.hpp"
#include "support/meet.hpp"

namespace tutti::test {
namespace {

enum class Form { blocking, nonblocking, persistent };

/// A call of one rank: so many bytes of a type, in the block that each rank gives.
struct Call {
  Operation operation = Operation::allreduce;
  DatatypeKind type = DatatypeKind::float32;
  ReduceKind op = ReduceKind::sum;
  int root = 0;
  std::size_t bytes = 4;
  Form form = Form::blocking;
  std::vector<std::size_t> send_counts{};  ///< of the forms with counts, in elements
  std::vector<std::size_t> recv_counts{};
  std::string algorithm = "shm";
};

std::size_t sum_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// One call with buffers of its own. Behind the result comes as much again and more that no rank may write.
class Attempt {
 public:
  Attempt(const Communicator& comm, Call call) : comm_(comm), call_(std::move(call)) {
    const auto size = static_cast<std::size_t>(comm.size());
    const std::size_t unit = Datatype(call_.type).size();
    count_ = call_.bytes / unit;
    const std::size_t room = 2 * size * std::max(call_.bytes, unit * sum_of(call_.recv_counts)) + 4096;
    send_.assign(std::max(room, unit * sum_of(call_.send_counts)), std::byte{0});
    recv_.assign(room, guard);
    give_at_ = displacements(call_.send_counts);
    take_at_ = displacements(call_.recv_counts);
  }

  void run() {
    Options options;
    options.algorithm = call_.algorithm;
    Request request = make(options);
    if (call_.form == Form::persistent) request.start();
    request.wait();
  }

  /// The number of bytes that the call may write.
  [[nodiscard]] std::size_t result_bytes() const {
    const auto size = static_cast<std::size_t>(comm_.size());
    const auto me = static_cast<std::size_t>(comm_.rank());
    const std::size_t unit = Datatype(call_.type).size();
    const bool is_root = comm_.rank() == call_.root;
    switch (call_.operation) {
      case Operation::barrier:
        return 0;
      case Operation::reduce:
        return is_root ? call_.bytes : 0;
      case Operation::gather:
        return is_root ? call_.bytes * size : 0;
      case Operation::reduce_scatter:
        return call_.recv_counts[me] * unit;
      case Operation::gatherv:
        return is_root ? sum_of(call_.recv_counts) * unit : 0;
      case Operation::scatterv:
        return call_.bytes;
      case Operation::alltoallv:
        return sum_of(call_.recv_counts) * unit;
      default:
        return call_.bytes;
    }
  }
  void expect_unwritten(std::size_t from) const {
    const auto found = std::find_if(recv_.begin() + static_cast<std::ptrdiff_t>(from), recv_.end(),
                                    [](std::byte b) { return b != guard; });
    EXPECT_EQ(found, recv_.end()) << "byte " << found - recv_.begin() << " was written; the result has "
                                  << result_bytes();
  }

 private:
  static constexpr std::byte guard{0xA5};

  static std::vector<std::size_t> displacements(const std::vector<std::size_t>& counts) {
    std::vector<std::size_t> all(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), all.begin(), std::size_t{0});
    return all;
  }

  template <typename Blocking, typename Nonblocking, typename Init>
  Request in_form(const Blocking& blocking, const Nonblocking& nonblocking, const Init& init) const {
    if (call_.form == Form::nonblocking) return nonblocking();
    if (call_.form == Form::persistent) return init();
    blocking();
    return {};
  }

  Request make(const Options& o) {
    const std::size_t n = count_;
    const std::size_t all = n * static_cast<std::size_t>(comm_.size());
    const auto in = [&](std::size_t count) { return ConstBuffer(send_.data(), count, call_.type); };
    const auto out = [&](std::size_t count) { return Buffer(recv_.data(), count, call_.type); };
    const auto& give = call_.send_counts;
    const auto& take = call_.recv_counts;
    const auto me = static_cast<std::size_t>(comm_.rank());
    const int root = call_.root;
#define TUTTI_TEST_FORMS(name, ...)                                                              \
  return in_form([&] { name(comm_, __VA_ARGS__); }, [&] { return i##name(comm_, __VA_ARGS__); }, \
                 [&] { return name##_init(comm_, __VA_ARGS__); })
    switch (call_.operation) {
      case Operation::barrier:
        TUTTI_TEST_FORMS(barrier, o);
      case Operation::bcast:
        TUTTI_TEST_FORMS(bcast, out(n), root, o);
      case Operation::reduce:
        TUTTI_TEST_FORMS(reduce, in(n), out(n), call_.op, root, o);
      case Operation::gather:
        TUTTI_TEST_FORMS(gather, in(n), out(all), root, o);
      case Operation::scatter:
        TUTTI_TEST_FORMS(scatter, in(all), out(n), root, o);
      case Operation::reduce_scatter:
        TUTTI_TEST_FORMS(reduce_scatter, in(sum_of(take)), out(take[me]), take, call_.op, o);
      case Operation::gatherv:
        TUTTI_TEST_FORMS(gatherv, in(give[me]), out(sum_of(take)), take, take_at_, root, o);
      case Operation::scatterv:
        TUTTI_TEST_FORMS(scatterv, in(sum_of(give)), give, give_at_, out(n), root, o);
      case Operation::alltoallv:
        TUTTI_TEST_FORMS(alltoallv, in(sum_of(give)), give, give_at_, out(sum_of(take)), take, take_at_, o);
      default:
        TUTTI_TEST_FORMS(allreduce, in(n), out(n), call_.op, o);
    }
#undef TUTTI_TEST_FORMS
  }

  const Communicator& comm_;
  Call call_;
  std::size_t count_;
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
  std::vector<std::size_t> give_at_;
  std::vector<std::size_t> take_at_;
};

struct Case {
  std::string name;
  Call usual;
  Call other;                      ///< of the last rank
  std::vector<std::string> words;  ///< in the text of every rank
  bool may_write = false;          ///< the agreeing ranks may have written inside their results
};

Call make_call(Operation operation, std::size_t bytes, Form form, int root = 0) {
  Call call;
  call.operation = operation;
  call.bytes = bytes;
  call.form = form;
  call.root = root;
  return call;
}

std::string counted(std::size_t bytes) { return "(float32, count " + std::to_string(bytes / 4); }

/// Calls that disagree, for blocks of so many bytes; the last rank makes the other one.
std::vector<Case> uniform_cases(std::size_t bytes, Form form) {
  const auto make = [=](Operation operation, int root = 0) { return make_call(operation, bytes, form, root); };
  const Call sum_of_floats = make(Operation::allreduce);
  std::vector<Case> all;
  all.push_back({"operation", sum_of_floats, make(Operation::bcast), {"allreduce", "bcast"}});
  all.push_back({"barrier", sum_of_floats, make(Operation::barrier), {"allreduce", "barrier"}});
  Call doubles = sum_of_floats;
  doubles.type = DatatypeKind::float64;
  doubles.bytes = std::max<std::size_t>(bytes, 8);
  all.push_back({"type", sum_of_floats, doubles, {"(float32, ", "(float64, "}});
  Call greatest = sum_of_floats;
  greatest.op = ReduceKind::max;
  all.push_back({"op", sum_of_floats, greatest, {", sum", ", max"}});
  for (const Operation rooted : {Operation::bcast, Operation::reduce, Operation::gather, Operation::scatter})
    all.push_back({"root", make(rooted, 0), make(rooted, 1), {"root 0", "root 1"}, true});
  for (const Operation counting : {Operation::allreduce, Operation::bcast, Operation::gather, Operation::reduce}) {
    Call more = make(counting);
    more.bytes = 2 * bytes;
    all.push_back({"more", make(counting), more, {counted(bytes), counted(2 * bytes)}, true});
    all.push_back({"fewer", more, make(counting), {counted(bytes), counted(2 * bytes)}, true});
  }
  // Longer nonblocking calls need single copies.
  if (form != Form::persistent && bytes <= 4096) {
    Call other_form = sum_of_floats;
    other_form.form = form == Form::blocking ? Form::nonblocking : Form::blocking;
    all.push_back({"form", sum_of_floats, other_form, {"calls allreduce(", "calls iallreduce("}});
  }
  return all;
}

/// Every rank gives and takes so many bytes, but the last one speaks of others where it meets the first.
Case disagreeing(Call usual, std::size_t theirs, std::size_t ranks) {
  const std::size_t bytes = usual.bytes;
  usual.send_counts.assign(ranks, bytes / 4);
  usual.recv_counts.assign(ranks, bytes / 4);
  Call other = usual;
  if (usual.operation == Operation::gatherv) other.send_counts.back() = theirs / 4;
  if (usual.operation == Operation::scatterv) other.bytes = theirs;
  if (usual.operation == Operation::alltoallv) other.recv_counts.front() = theirs / 4;
  return {"counts", usual, other, {std::to_string(bytes), std::to_string(theirs)}, true};
}

/// Ranks that disagree on the counts alone.
std::vector<Case> counted_cases(std::size_t bytes, Form form, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  const std::size_t n = bytes / 4;
  std::vector<Case> all;
  Call parts = make_call(Operation::reduce_scatter, bytes, form);
  parts.recv_counts.assign(ranks, 2 * n);
  Call moved = parts;
  moved.recv_counts.front() -= n;
  moved.recv_counts.back() += n;
  all.push_back({"parts", parts, moved, {"reduce_scatter", "other counts of the blocks"}});
  // Lengths that go by lines, slots and single copies, each beside each.
  for (const std::size_t theirs : {2 * bytes, std::size_t{64}, std::size_t{6'000}, std::size_t{300'000}})
    for (const Operation operation : {Operation::gatherv, Operation::scatterv, Operation::alltoallv})
      all.push_back(disagreeing(make_call(operation, bytes, form), theirs, ranks));
  return all;
}

/// What a call and, if it does not fail, the barriers after it say.
std::string error_of(const Communicator& comm, Attempt& attempt, ErrorCode& code) {
  try {
    attempt.run();
    for (int i = 0; i < 3; ++i) barrier(comm);
  } catch (const Error& e) {
    code = e.code();
    return e.what();
  }
  return "";
}

void expect_mismatch(const Case& one) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const bool is_other = comm.rank() == comm.size() - 1;
  Attempt attempt(comm, is_other ? one.other : one.usual);
  SCOPED_TRACE(one.name + " of " + std::string(operation_name(one.usual.operation)) + ", " +
               std::to_string(one.usual.bytes) + " bytes, form " + std::to_string(static_cast<int>(one.usual.form)));
  ErrorCode code = ErrorCode::success;
  const std::string text = error_of(comm, attempt, code);
  EXPECT_EQ(code, ErrorCode::mismatch) << text;
  for (const std::string& word : one.words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " not in: " << text;
  attempt.expect_unwritten(one.may_write ? attempt.result_bytes() : 0);
  try {
    barrier(comm);
    ADD_FAILURE() << "the communicator is not broken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_communicator) << e.what();
  }
  meet();
}

struct Class {
  std::size_t bytes;
  Form form;
};

class Disagreement : public ::testing::TestWithParam<Class> {
 protected:
  void SetUp() override {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) GTEST_SKIP() << "needs 2 ranks";
    const int turn = static_cast<int>(GetParam().form) + (GetParam().bytes > 4096 ? 1 : 0);
    if (size > 2 && turn % 3 != 0) GTEST_SKIP() << "sizes and forms take turns among more than 2 ranks";
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    Call large = make_call(Operation::allreduce, std::size_t{1} << 20U, GetParam().form);
    large.algorithm = "shm:single_copy";
    try {
      Attempt(comm, large).run();
    } catch (const Error&) {
      if (GetParam().form != Form::blocking) GTEST_SKIP() << "such calls need single copies";
    }
  }
};

TEST_P(Disagreement, IsAMismatchOnAllRanks) {
  for (const Case& one : uniform_cases(GetParam().bytes, GetParam().form)) expect_mismatch(one);
}

TEST_P(Disagreement, OnCountsIsAMismatchOnAllRanks) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const Case& one : counted_cases(GetParam().bytes, GetParam().form, size)) expect_mismatch(one);
}

std::vector<Class> classes() {
  std::vector<Class> all;
  for (const std::size_t bytes : {4, 4 << 10, 100'000, 1 << 20})
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) all.push_back({bytes, form});
  return all;
}

std::string name_of(const Class& one) {
  const std::string form = one.form == Form::blocking      ? "_blocking"
                           : one.form == Form::nonblocking ? "_nonblocking"
                                                           : "_persistent";
  return std::to_string(one.bytes) + form;
}

INSTANTIATE_TEST_SUITE_P(Agreement, Disagreement, ::testing::ValuesIn(classes()),
                         [](const auto& test) { return name_of(test.param); });

/// The protocols differ although the signatures are equal: each reads words that the other never writes.
TEST(Protocols, ThatDifferAreAMismatch) {
  Case one{"algorithm", make_call(Operation::allreduce, 2048, Form::blocking), {}, {"(shm:line)", "(shm:slots)"}};
  one.other = one.usual;
  one.usual.algorithm = "shm:line";
  one.other.algorithm = "shm:slots";
  expect_mismatch(one);
}

class Refusal : public ::testing::TestWithParam<Form> {};

TEST_P(Refusal, OfOneRankEndsTheCallsOfTheOthers) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  Call call = make_call(Operation::bcast, 4, GetParam());
  const bool refuses = comm.rank() == comm.size() - 1;
  if (refuses) {
    call.root = -1;
    Attempt wrong(comm, call);
    EXPECT_THROW(wrong.run(), Error);
    call.root = 0;
  }
  // The rank that was refused goes on with the same call, which must not meet the one that the others made meanwhile.
  Attempt attempt(comm, call);
  ErrorCode code = ErrorCode::success;
  const std::string text = error_of(comm, attempt, code);
  EXPECT_EQ(code, ErrorCode::mismatch) << text;
  EXPECT_NE(text.find("refused"), std::string::npos) << text;
  attempt.expect_unwritten(attempt.result_bytes());
  meet();
}

TEST_P(Refusal, OfAllRanksHarmsNothing) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  Call call = make_call(Operation::bcast, 4, GetParam());
  for (int i = 0; i < 40; ++i) {
    call.root = i % 2 - 1;
    Attempt attempt(comm, call);
    if (call.root < 0)
      EXPECT_THROW(attempt.run(), Error);
    else
      EXPECT_NO_THROW(attempt.run());
  }
  meet();
}

INSTANTIATE_TEST_SUITE_P(Agreement, Refusal, ::testing::Values(Form::blocking, Form::nonblocking, Form::persistent));

// Memory may run out at any allocation of a blocking call, before or after its turn has been taken.
TEST(WantOfMemory, OfOneRankEndsTheCallsOfTheOthers) {
  for (const Operation operation : {Operation::allreduce, Operation::alltoallv})
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{100'000}})
      for (int good = 0, failed = 1; failed != 0 && good < 100; ++good) {
        const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
        Call call = make_call(operation, bytes, Form::blocking);
        call.send_counts.assign(static_cast<std::size_t>(comm.size()), bytes / 4);
        call.recv_counts = call.send_counts;
        Attempt first(comm, call);
        first.run();
        barrier(comm);
        Attempt attempt(comm, call);
        if (comm.rank() == 0) allow_allocations(good);
        failed = 0;
        try {
          attempt.run();
        } catch (const std::exception&) {
          failed = 1;
        }
        const bool ran_out = allow_all_allocations();
        EXPECT_TRUE(failed == 0 || ran_out || comm.rank() != 0) << "an error without cause";
        if (failed == 0) {
          try {
            barrier(comm);
          } catch (const Error&) {
            failed = 1;
          }
        }
        int all_failed = 0;
        MPI_Allreduce(&failed, &all_failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        EXPECT_EQ(failed, all_failed) << operation_name(operation) << " of " << bytes << " bytes, allocation " << good;
        failed = all_failed;
      }
}

}  // namespace
}  // namespace tutti::test
