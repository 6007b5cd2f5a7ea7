// SPDX-License-Identifier: BSD-3-Clause
// The stand-in of NCCL between ranks: every function of the table does what NCCL documents, and ranks that disagree are
// told.
#include <cstring>

#include "mpi/nccl/comm_support.hpp"
#include "support/standin/nccl_arithmetic.hpp"

namespace tutti::test {
namespace {

class Standin : public ::testing::Test {
 protected:
  Standin() : made_(make_comm(comm_)) {}
  ~Standin() override {
    machine().drain();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  [[nodiscard]] const detail::nccl::Table& table() const { return made_->table(); }
  [[nodiscard]] void* stream() const { return machine().stream; }

  const Communicator comm_ = Communicator::duplicate(MPI_COMM_WORLD);
  const int rank_ = comm_.rank();
  const int size_ = comm_.size();
  const std::size_t ranks_ = static_cast<std::size_t>(size_);
  const standin::HostAccess access_{};
  std::unique_ptr<Comm> made_;
};

template <typename T>
class Array {
 public:
  explicit Array(std::size_t count) : memory_(count * sizeof(T)), count_(count) {}
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  DeviceMemory memory_;
  std::size_t count_;
};

/// A number that every type represents, as do all sums and products of four of them, in any order.
float small(int rank, std::size_t i) { return static_cast<float>((static_cast<std::size_t>(rank) + i) % 2 + 1); }

template <typename T>
T of(float x) {
  return static_cast<T>(x);
}

float reference(RedOp op, int size, std::size_t i) {
  float result = small(0, i);
  for (int rank = 1; rank < size; ++rank) {
    const float x = small(rank, i);
    if (op == RedOp::prod) result *= x;
    if (op == RedOp::max) result = std::max(result, x);
    if (op == RedOp::min) result = std::min(result, x);
    if (op == RedOp::sum || op == RedOp::avg) result += x;
  }
  return op == RedOp::avg ? result / static_cast<float>(size) : result;
}

template <typename T>
void check_reductions(const Comm& comm, DataType type, int rank, int size) {
  constexpr std::size_t n = 37;
  const auto ranks = static_cast<std::size_t>(size);
  const Array<T> in(n * ranks);
  const Array<T> all(n * ranks);
  const Array<T> part(n);
  void* stream = machine().stream;
  for (const RedOp op : {RedOp::sum, RedOp::prod, RedOp::max, RedOp::min, RedOp::avg}) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = of<T>(small(rank, i));
    const auto& t = comm.table();
    EXPECT_EQ(t.all_reduce(in.data(), all.data(), in.size(), type, op, comm.handle(), stream), Result::success);
    EXPECT_EQ(t.reduce_scatter(in.data(), part.data(), n, type, op, comm.handle(), stream), Result::success);
    EXPECT_EQ(t.reduce(in.data(), in.data(), in.size(), type, op, size - 1, comm.handle(), stream), Result::success);
    machine().runtime.run_all();
    const auto near = [&](T value, std::size_t i) {
      const float expected = static_cast<float>(of<T>(reference(op, size, i)));
      const float tolerance = op == RedOp::avg ? expected / 4 : 0;
      EXPECT_NEAR(static_cast<float>(value), expected, tolerance)
          << standin::name_of(type) << " " << standin::name_of(op) << " " << i;
    };
    for (std::size_t i = 0; i < in.size(); ++i) near(all[i], i);
    for (std::size_t i = 0; i < n; ++i) near(part[i], static_cast<std::size_t>(rank) * n + i);
    if (rank == size - 1)
      for (std::size_t i = 0; i < in.size(); ++i) near(in[i], i);
  }
}

TEST_F(Standin, ReducesAllTypesByAllOperations) {
  check_reductions<std::int8_t>(*made_, DataType::int8, rank_, size_);
  check_reductions<std::uint8_t>(*made_, DataType::uint8, rank_, size_);
  check_reductions<std::int32_t>(*made_, DataType::int32, rank_, size_);
  check_reductions<std::uint32_t>(*made_, DataType::uint32, rank_, size_);
  check_reductions<std::int64_t>(*made_, DataType::int64, rank_, size_);
  check_reductions<std::uint64_t>(*made_, DataType::uint64, rank_, size_);
  check_reductions<float16_t>(*made_, DataType::float16, rank_, size_);
  check_reductions<float>(*made_, DataType::float32, rank_, size_);
  check_reductions<double>(*made_, DataType::float64, rank_, size_);
  check_reductions<bfloat16_t>(*made_, DataType::bfloat16, rank_, size_);
  check_reductions<float8_e4m3_t>(*made_, DataType::float8_e4m3, rank_, size_);
  check_reductions<float8_e5m2_t>(*made_, DataType::float8_e5m2, rank_, size_);
}

TEST_F(Standin, MovesBlocks) {
  constexpr std::size_t n = 5;
  const int root = size_ - 1;
  const bool is_root = rank_ == root;
  const auto me = static_cast<std::size_t>(rank_);
  const Array<int> in(n * ranks_);
  const Array<int> gathered(n * ranks_);
  const Array<int> exchanged(n * ranks_);
  const Array<int> at_root(n * ranks_);
  const Array<int> scattered(n);
  const Array<int> everywhere(n);
  const auto value = [](std::size_t from, std::size_t i) { return static_cast<int>(1000 * from + i); };
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(me, i);
  const auto& t = table();
  constexpr auto type = DataType::int32;
  EXPECT_EQ(t.all_gather(in.data(), gathered.data(), n, type, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.broadcast(in.data(), everywhere.data(), n, type, root, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.all_to_all(in.data(), exchanged.data(), n, type, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.gather(in.data(), at_root.data(), n, type, root, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.scatter(in.data(), scattered.data(), n, type, root, made_->handle(), stream()), Result::success);
  machine().drain();
  const auto last = static_cast<std::size_t>(root);
  for (std::size_t r = 0; r < ranks_; ++r)
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(gathered[r * n + i], value(r, i));
      EXPECT_EQ(exchanged[r * n + i], value(r, me * n + i));
      if (is_root) {
        EXPECT_EQ(at_root[r * n + i], value(r, i));
      }
    }
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(everywhere[i], value(last, i));
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(scattered[i], value(last, me * n + i));
}

/// Large messages around the ring and to itself, in one group on two streams.
TEST_F(Standin, AGroupIsOnePieceOfWork) {
  constexpr std::size_t n = 300'000;
  const Array<double> out(n);
  const Array<double> in(n);
  const Array<int> self(2);
  void* second = machine().runtime.create_stream();
  std::fill_n(out.data(), n, rank_);
  self[0] = 7;
  const auto& t = table();
  const int next = (rank_ + 1) % size_;
  const int before = (rank_ + size_ - 1) % size_;
  EXPECT_EQ(t.group_start(), Result::success);
  EXPECT_EQ(t.send(out.data(), n, DataType::float64, next, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.send(&self[0], 1, DataType::int32, rank_, made_->handle(), second), Result::success);
  EXPECT_EQ(t.recv(in.data(), n, DataType::float64, before, made_->handle(), stream()), Result::success);
  EXPECT_EQ(t.recv(&self[1], 1, DataType::int32, rank_, made_->handle(), second), Result::success);
  EXPECT_EQ(t.group_end(), Result::success);
  EXPECT_EQ(machine().nccl.in_flight(), 1);
  machine().drain();
  EXPECT_EQ(in[0], before);
  EXPECT_EQ(in[n - 1], before);
  EXPECT_EQ(self[1], 7);
  machine().runtime.destroy_stream(second);
}

/// Broken rules, on a stand-in of their own. Each fails on all ranks, since all must see it.
class BrokenRules : public Standin {
 protected:
  BrokenRules() : former_(machine().nccl.violations().size()) { machine().nccl.expect_violations(); }
  void expect_violation(const std::string& part) const {
    machine().runtime.run_all();
    const auto& all = machine().nccl.violations();
    ASSERT_GT(all.size(), former_) << "allowed: " << part;
    EXPECT_NE(all.back().find(part), std::string::npos) << all.back();
  }
  std::size_t former_;
};

TEST_F(BrokenRules, DifferentWorkOnDifferentRanksIsRefused) {
  if (size_ == 1) GTEST_SKIP() << "one rank cannot disagree";
  const Floats data(8, 1);
  const std::size_t count = rank_ == 0 ? 8 : 4;
  EXPECT_EQ(
      table().all_reduce(data.data(), data.data(), count, DataType::float32, RedOp::sum, made_->handle(), stream()),
      Result::success);
  expect_violation("different work");
  made_->abort();
}

TEST_F(BrokenRules, DifferentOrdersOfCommunicatorsAreRefused) {
  if (size_ == 1) GTEST_SKIP() << "one rank cannot disagree";
  const auto other = make_comm(comm_);
  const Floats data(8, 1);
  void* second = machine().runtime.create_stream();
  const bool swaps = rank_ == 0;
  for (int i = 0; i < 2; ++i) {
    Comm& comm = (i == 0) == swaps ? *made_ : *other;
    EXPECT_EQ(table().all_reduce(data.data(), data.data(), 8, DataType::float32, RedOp::sum, comm.handle(),
                                 &comm == other.get() ? second : stream()),
              Result::success);
  }
  expect_violation("different orders");
  made_->abort();
  other->abort();
  machine().runtime.run_all();
  machine().runtime.destroy_stream(second);
}

TEST_F(BrokenRules, BuffersAtDifferentPlacesOfAWindowAreRefused) {
  if (size_ == 1) GTEST_SKIP() << "one rank cannot disagree";
  if (table().comm_window_register == nullptr) GTEST_SKIP() << "this version has no windows";
  constexpr int symmetric = 1;
  const Floats data(4 * ranks_, 1);
  detail::nccl::WindowHandle window = nullptr;
  EXPECT_EQ(table().comm_window_register(made_->handle(), data.data(), data.size() * sizeof(float), &window, symmetric),
            Result::success);
  made_->check(Result::in_progress, "ncclCommWindowRegister", 30s);
  for (const std::size_t offset : {std::size_t{2}, rank_ == 0 ? std::size_t{2} : std::size_t{1}}) {
    EXPECT_TRUE(machine().nccl.violations().size() == former_) << machine().nccl.violations().back();
    EXPECT_EQ(
        table().all_to_all(data.data(), data.data() + offset * ranks_, 1, DataType::float32, made_->handle(), stream()),
        Result::success);
    machine().runtime.run_all();
  }
  expect_violation("at other places");
  made_->abort();
}

TEST_F(BrokenRules, MessagesOfDifferentLengthsAreRefused) {
  if (size_ < 2) GTEST_SKIP() << "one rank sends nothing";
  const Floats data(8, 1);
  if (rank_ == 0) {
    EXPECT_EQ(table().send(data.data(), 8, DataType::float32, 1, made_->handle(), stream()), Result::success);
    expect_violation("sends 32 bytes, rank 1 receives 16");
  } else if (rank_ == 1) {
    EXPECT_EQ(table().recv(data.data(), 4, DataType::float32, 0, made_->handle(), stream()), Result::success);
  }
  machine().drain();
}

}  // namespace
}  // namespace tutti::test
