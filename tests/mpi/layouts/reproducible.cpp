// SPDX-License-Identifier: BSD-3-Clause
// Reproducible mode: the same bits by every way to make a call, in every layout of ranks on nodes. Each run compares
// with the sum in rank order, computed here without the library: runs with and without emulated nodes then agree. Exact
// sums are compared with those of long integers, whatever rank has which contribution.
#include <cmath>
#include <cstring>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

/// Terms of very different sizes: any other order of the sums shows.
template <typename T>
T term(int rank, std::size_t i) {
  const auto mixed = (i * 2654435761U + static_cast<std::size_t>(rank) * 40503U) % 1013U;
  const double value = std::ldexp(1.0 + static_cast<double>(mixed) / 1013.0, static_cast<int>(mixed % 9U) - 4);
  return T(static_cast<float>(mixed % 2U == 0 ? value : -value / 3.0));
}

template <typename T>
std::vector<T> sum_of_ranks(int first, int last, std::size_t offset, std::size_t count) {
  std::vector<T> total(count);
  for (std::size_t i = 0; i < count; ++i) {
    total[i] = term<T>(first, offset + i);
    for (int rank = first + 1; rank <= last; ++rank) total[i] = total[i] + term<T>(rank, offset + i);
  }
  return total;
}

/// 16-bit floats are added up in float32 and rounded once.
template <>
std::vector<bfloat16_t> sum_of_ranks(int first, int last, std::size_t offset, std::size_t count) {
  std::vector<bfloat16_t> total(count);
  for (std::size_t i = 0; i < count; ++i) {
    float sum_of = static_cast<float>(term<bfloat16_t>(first, offset + i));
    for (int rank = first + 1; rank <= last; ++rank) sum_of += static_cast<float>(term<bfloat16_t>(rank, offset + i));
    total[i] = bfloat16_t(sum_of);
  }
  return total;
}

/// Everything that may be asked for by name, and the planner's own choice.
std::vector<std::string> ways(Operation operation, const Communicator& comm, Datatype type, std::size_t count,
                              detail::CallKind kind, const Options& mode) {
  detail::Signature s;
  s.operation = operation;
  s.kind = kind;
  s.type = type;
  s.reproducible = mode.reproducible;
  s.accumulation = mode.accumulation;
  s.count = count;
  std::vector<std::string> names{""};
  for (const detail::Candidate& c : detail::candidates(s, comm.state()->machine()))
    if (c.nameable) names.push_back(c.name);
  return names;
}

constexpr std::size_t counts[] = {1, 13, 1021, 40'009};

template <typename T>
void expect_bits(const std::vector<T>& got, const std::vector<T>& wanted, Operation operation, const Options& o) {
  EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(T)), 0)
      << operation_name(operation) << " by '" << o.algorithm << "', " << wanted.size() << " elements";
}

Options reproducible_mode() {
  Options options;
  options.reproducible = true;
  return options;
}

/// Calls body(comm, options, count) for all ways to make the call; it must make the call in all.
template <typename T, typename Body>
void for_every_way(Operation operation, bool has_blocks, const Body& body,
                   detail::CallKind kind = detail::CallKind::blocking, const Options& mode = reproducible_mode()) {
  for (const Communicator& comm : communicators())
    for (const std::size_t count : counts) {
      const std::size_t vector = has_blocks ? count * static_cast<std::size_t>(comm.size()) : count;
      for (const std::string& name : ways(operation, comm, datatype_of<T>(), count, kind, mode)) {
        Options options = mode;
        options.algorithm = name;
        std::vector<T> mine(vector);
        for (std::size_t i = 0; i < vector; ++i) mine[i] = term<T>(comm.rank(), i);
        body(comm, options, count, mine);
      }
    }
}

template <typename T>
class Reproducible : public ::testing::Test {};
using Types = ::testing::Types<float, double, bfloat16_t>;
TYPED_TEST_SUITE(Reproducible, Types);

TYPED_TEST(Reproducible, Allreduce) {
  using T = TypeParam;
  for_every_way<T>(Operation::allreduce, false,
                   [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                     std::vector<T> out(n);
                     allreduce(comm, in, out, sum, o);
                     expect_bits(out, sum_of_ranks<T>(0, comm.size() - 1, 0, n), Operation::allreduce, o);
                   });
}

TYPED_TEST(Reproducible, AllreduceInPlaceWithRequests) {
  using T = TypeParam;
  for (const auto kind : {detail::CallKind::nonblocking, detail::CallKind::persistent})
    for_every_way<T>(
        Operation::allreduce, false,
        [kind](const Communicator& comm, const Options& o, std::size_t n, auto& data) {
          Request request = kind == detail::CallKind::persistent ? allreduce_init(comm, in_place, data, sum, o)
                                                                 : iallreduce(comm, in_place, data, sum, o);
          if (kind == detail::CallKind::persistent) request.start();
          request.wait();
          expect_bits(data, sum_of_ranks<T>(0, comm.size() - 1, 0, n), Operation::allreduce, o);
        },
        kind);
}

TYPED_TEST(Reproducible, Reduce) {
  using T = TypeParam;
  for_every_way<T>(Operation::reduce, false, [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
    std::vector<T> out(n);
    for (const int root : {0, comm.size() - 1}) {
      reduce(comm, in, out, sum, root, o);
      if (comm.rank() == root) expect_bits(out, sum_of_ranks<T>(0, comm.size() - 1, 0, n), Operation::reduce, o);
    }
  });
}

TYPED_TEST(Reproducible, ReduceScatterBlock) {
  using T = TypeParam;
  for_every_way<T>(
      Operation::reduce_scatter_block, true, [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
        std::vector<T> out(n);
        reduce_scatter_block(comm, in, out, sum, o);
        const std::size_t offset = n * static_cast<std::size_t>(comm.rank());
        expect_bits(out, sum_of_ranks<T>(0, comm.size() - 1, offset, n), Operation::reduce_scatter_block, o);
      });
}

TYPED_TEST(Reproducible, Scan) {
  using T = TypeParam;
  for_every_way<T>(Operation::scan, false, [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
    std::vector<T> out(n);
    scan(comm, in, out, sum, o);
    expect_bits(out, sum_of_ranks<T>(0, comm.rank(), 0, n), Operation::scan, o);
  });
}

TYPED_TEST(Reproducible, Exscan) {
  using T = TypeParam;
  for_every_way<T>(Operation::exscan, false, [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
    std::vector<T> out(n);
    exscan(comm, in, out, sum, o);
    if (comm.rank() > 0) expect_bits(out, sum_of_ranks<T>(0, comm.rank() - 1, 0, n), Operation::exscan, o);
  });
}

TEST(ReproducibleAverage, SameBits) {
  for_every_way<double>(Operation::allreduce, false,
                        [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                          std::vector<double> out(n);
                          allreduce(comm, in, out, avg, o);
                          std::vector<double> wanted = sum_of_ranks<double>(0, comm.size() - 1, 0, n);
                          for (double& value : wanted) value /= comm.size();
                          expect_bits(out, wanted, Operation::allreduce, o);
                        });
}

TEST(ReproducibleSplit, PartsOfAVectorHaveTheBitsOfTheWhole) {
  const Communicator& comm = communicators().front();
  constexpr std::size_t count = 30'011;
  Options options;
  options.reproducible = true;
  std::vector<float> whole(count);
  for (std::size_t i = 0; i < count; ++i) whole[i] = term<float>(comm.rank(), i);
  std::vector<float> parts = whole;
  allreduce(comm, whole, sum, options);
  for (std::size_t begin = 0; begin < count; begin += 7'001) {
    const std::size_t length = std::min<std::size_t>(7'001, count - begin);
    allreduce(comm, parts.data() + begin, length, sum, options);
  }
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), count * sizeof(float)), 0);
}

__extension__ using Long = __int128;
constexpr int unit = -100;  // integers count 2^unit

/// Terms of all sizes, every other one of which cancels but for its last bits.
template <typename T>
T exact_term(std::size_t which, std::size_t i) {
  const std::size_t mixed = (i * 2654435761U + which / 2 * 40503U) % 1013U;
  const double size =
      std::ldexp(1.0 + static_cast<double>(mixed) / 1013.0, static_cast<int>((mixed + which / 2) % 40U) - 20);
  const T first = T(size);
  if (which % 2 == 0) return first;
  return static_cast<T>(-first * static_cast<T>(1 + std::ldexp(1.0, i % 3 == 0 ? -20 : -70)));
}

/// The sum of which terms on `ranks` ranks, rounded once from an integer.
template <typename T>
std::vector<T> exact_sums(int ranks, std::size_t offset, std::size_t count) {
  std::vector<T> total(count);
  for (std::size_t i = 0; i < count; ++i) {
    Long sum_of = 0;
    for (int r = 0; r < ranks; ++r)
      sum_of += static_cast<Long>(
          std::ldexp(static_cast<double>(exact_term<T>(static_cast<std::size_t>(r), offset + i)), -unit));
    total[i] = std::ldexp(static_cast<T>(sum_of), unit);  // an integer is converted to the nearest number
  }
  return total;
}

Options exact_mode() {
  Options options;
  options.accumulation = Accumulation::exact;
  return options;
}

/// Calls body(comm, options, count, own terms) for all ways, for ranks whose terms move on from call to call.
template <typename T, typename Body>
void for_every_exact_way(Operation operation, bool has_blocks, const Body& body,
                         detail::CallKind kind = detail::CallKind::blocking) {
  std::size_t shift = 0;
  for_every_way<T>(
      operation, has_blocks,
      [&](const Communicator& comm, const Options& o, std::size_t n, std::vector<T>& in) {
        const std::size_t which =
            (static_cast<std::size_t>(comm.rank()) + shift++) % static_cast<std::size_t>(comm.size());
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = exact_term<T>(which, i);
        body(comm, o, n, in);
      },
      kind, exact_mode());
}

template <typename T>
class ExactAccumulation : public ::testing::Test {};
using ExactTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExactAccumulation, ExactTypes);

TYPED_TEST(ExactAccumulation, Allreduce) {
  using T = TypeParam;
  for_every_exact_way<T>(Operation::allreduce, false,
                         [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                           std::vector<T> out(n);
                           allreduce(comm, in, out, sum, o);
                           expect_bits(out, exact_sums<T>(comm.size(), 0, n), Operation::allreduce, o);
                         });
}

TYPED_TEST(ExactAccumulation, ReduceScatterBlock) {
  using T = TypeParam;
  for_every_exact_way<T>(Operation::reduce_scatter_block, true,
                         [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                           std::vector<T> out(n);
                           reduce_scatter_block(comm, in, out, sum, o);
                           const std::size_t offset = n * static_cast<std::size_t>(comm.rank());
                           expect_bits(out, exact_sums<T>(comm.size(), offset, n), Operation::reduce_scatter_block, o);
                         });
}

TEST(ExactSums, AllreduceInPlaceWithRequests) {
  for (const auto kind : {detail::CallKind::nonblocking, detail::CallKind::persistent})
    for_every_exact_way<float>(
        Operation::allreduce, false,
        [kind](const Communicator& comm, const Options& o, std::size_t n, auto& data) {
          Request request = kind == detail::CallKind::persistent ? allreduce_init(comm, in_place, data, sum, o)
                                                                 : iallreduce(comm, in_place, data, sum, o);
          if (kind == detail::CallKind::persistent) request.start();
          request.wait();
          expect_bits(data, exact_sums<float>(comm.size(), 0, n), Operation::allreduce, o);
        },
        kind);
}

TEST(ExactSums, Reduce) {
  for_every_exact_way<float>(Operation::reduce, false,
                             [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                               std::vector<float> out(n);
                               const int root = comm.size() - 1;
                               reduce(comm, in, out, sum, root, o);
                               if (comm.rank() == root) {
                                 expect_bits(out, exact_sums<float>(comm.size(), 0, n), Operation::reduce, o);
                               }
                             });
}

TEST(ExactSums, AverageDividesTheRoundedSum) {
  for_every_exact_way<double>(Operation::allreduce, false,
                              [](const Communicator& comm, const Options& o, std::size_t n, auto& in) {
                                std::vector<double> out(n);
                                allreduce(comm, in, out, avg, o);
                                std::vector<double> wanted = exact_sums<double>(comm.size(), 0, n);
                                for (double& value : wanted) value /= static_cast<double>(comm.size());
                                expect_bits(out, wanted, Operation::allreduce, o);
                              });
}

TEST(ExactSums, AreNoneInAnyOrder) {
  const Communicator& comm = communicators().front();
  std::vector<float> x{1.0F};
  Options ring = exact_mode();
  ring.algorithm = "mpi:ring";
  if (comm.size() > 1) {
    EXPECT_THROW(allreduce(comm, x, sum, ring), Error) << "which rounds at each step";
  }
  if (comm.size() > 2) {
    const std::vector<double> terms{0x1p60, 1, -0x1p60, 0};
    std::vector<double> lost{terms[static_cast<std::size_t>(std::min(comm.rank(), 3))]};
    std::vector<double> kept = lost;
    allreduce(comm, lost, sum, reproducible_mode());
    allreduce(comm, kept, sum, exact_mode());
    EXPECT_EQ(lost[0], 0);
    EXPECT_EQ(kept[0], 1);
  }
}

}  // namespace
}  // namespace tutti::test
