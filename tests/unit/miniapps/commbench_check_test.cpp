// SPDX-License-Identifier: BSD-3-Clause
// The data checks of tutti-commbench: results made by other means pass, and every planted fault is found.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "buffers.hpp"
#include "kernels/combine.hpp"

namespace {

using namespace tutti::commbench;
using tutti::Datatype;
using tutti::DatatypeKind;
using tutti::ReduceKind;

/// The buffers of all ranks in one process, with a reference implementation of the collective between them.
class AllRanks {
 public:
  AllRanks(const Point& point, int ranks, std::size_t elements, Reuse reuse = Reuse::reuse,
           const Splits& splits = {Splits::Kind::uneven}, bool in_place = false)
      : point_(point), ranks_(ranks), root_(ranks - 1) {
    for (int r = 0; r < ranks; ++r) {
      const World world{r, ranks, root_};
      Shape shape = point.traffic ? make_traffic_shape(*point.traffic, elements, world)
                                  : make_shape(point.operation, elements, world, splits);
      if (in_place) shape = make_in_place(point.operation, world, std::move(shape));
      shapes_.push_back(std::make_unique<Shape>(std::move(shape)));
      buffers_.push_back(
          std::make_unique<Buffers>(point, *shapes_.back(), world, Pattern(point.type, point.op, ranks), reuse, 1));
    }
  }

  void fill(std::uint64_t iteration) {
    for (auto& buffers : buffers_) buffers->fill(0, iteration);
  }

  void communicate() {
    keep_given();
    for (int r = 0; r < ranks_; ++r)
      for (const ResultSlice& slice : shape(r).result) combine(slice, at(buffers(r).recv(0), slice.at));
  }

  [[nodiscard]] std::optional<std::string> fault(std::uint64_t iteration) const {
    for (const auto& buffers : buffers_)
      if (auto found = buffers->find_fault(0, iteration)) return found;
    return std::nullopt;
  }

  [[nodiscard]] Buffers& buffers(int rank) { return *buffers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Shape& shape(int rank) const { return *shapes_[static_cast<std::size_t>(rank)]; }

 private:
  [[nodiscard]] std::byte* at(std::byte* base, std::size_t element) const {
    return base + element * point_.type.size();
  }

  /// What each rank gives lies in its send buffer, or in its receive buffer, where results come.
  void keep_given() {
    given_.clear();
    for (int r = 0; r < ranks_; ++r) {
      const bool in_recv = !shape(r).given.empty();
      const std::byte* from = in_recv ? at(buffers(r).recv(0), shape(r).given[0].at) : buffers(r).send(0);
      const std::size_t elements = in_recv ? shape(r).given[0].length : shape(r).send;
      given_.emplace_back(from, from + elements * point_.type.size());
    }
  }

  void combine(const ResultSlice& slice, std::byte* to) {
    std::vector<const void*> inputs;
    std::vector<std::vector<std::byte>> scaled;
    for (int s = slice.first; s <= slice.last; ++s) {
      inputs.push_back(at(given_[static_cast<std::size_t>(s)].data(), slice.offset));
      if (point_.op != ReduceKind::premul_sum) continue;
      scaled.emplace_back(slice.length * point_.type.size());
      tutti::kernels::scale_copy(point_.type, inputs.back(), scaled.back().data(), slice.length,
                                 Pattern::operation(ReduceKind::premul_sum, s).scalar());
      inputs.back() = scaled.back().data();
    }
    if (!point_.op) {
      if (to != inputs.front()) std::memcpy(to, inputs.front(), slice.length * point_.type.size());
    } else if (point_.op == ReduceKind::avg) {
      tutti::kernels::combine_avg(point_.type, inputs, to, slice.length, static_cast<std::size_t>(ranks_));
    } else {
      tutti::kernels::combine(point_.type, Pattern::operation(*point_.op, 0), inputs, to, slice.length);
    }
  }

  Point point_;
  int ranks_;
  int root_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::vector<std::unique_ptr<Buffers>> buffers_;
  std::vector<std::vector<std::byte>> given_{};
};

Point point_of(Operation operation, Datatype type, std::optional<ReduceKind> op = std::nullopt) {
  Point point;
  point.operation = operation;
  point.type = type;
  point.op = op;
  return point;
}

TEST(Check, AcceptsEveryTypeAndOperation) {
  for (int kind = 1; kind < static_cast<int>(DatatypeKind::bytes); ++kind)
    for (int op = 1; op <= static_cast<int>(ReduceKind::user); ++op)
      for (const int ranks : {1, 2, 7, 40}) {
        const auto type = static_cast<DatatypeKind>(kind);
        const auto reduction = static_cast<ReduceKind>(op);
        if (!tutti::is_defined(reduction, type)) continue;
        AllRanks all(point_of(Operation::allreduce, type, reduction), ranks, 300);
        all.fill(5);
        all.communicate();
        const auto fault = all.fault(5);
        EXPECT_FALSE(fault) << tutti::datatype_name(type) << ' ' << tutti::reduce_op_name(reduction) << ", " << ranks
                            << " ranks: " << fault.value_or("");
      }
}

TEST(Check, AcceptsEveryCollective) {
  for (const auto operation : all_operations)
    for (const auto& type : {Datatype(DatatypeKind::float32), Datatype(DatatypeKind::int64_int32), Datatype::bytes(5)})
      for (const std::size_t elements : {std::size_t{8}, std::size_t{3 * Pattern::period + 17}}) {
        const bool is_bytes = type.kind() == DatatypeKind::bytes;
        const auto op = is_bytes                               ? ReduceKind::user
                        : type.kind() == DatatypeKind::float32 ? ReduceKind::sum
                                                               : ReduceKind::minloc;
        AllRanks all(point_of(operation, type, traits_of(operation).combines() ? std::optional(op) : std::nullopt), 4,
                     elements);
        all.fill(1);
        all.communicate();
        EXPECT_FALSE(all.fault(1)) << static_cast<int>(operation) << ": " << all.fault(1).value_or("");
      }
}

/// Plants one fault in the result of a rank and undoes it.
void expect_found(AllRanks& all, std::byte* where, const char* what) {
  *where ^= std::byte{0x10};
  EXPECT_TRUE(all.fault(9)) << what;
  *where ^= std::byte{0x10};
  EXPECT_FALSE(all.fault(9)) << what;
}

/// Plants faults in the result of each rank: behind it, and in the first, the middle and the last element of each
/// slice.
void expect_faults_are_found(AllRanks& all, int ranks) {
  all.fill(9);
  all.communicate();
  ASSERT_FALSE(all.fault(9)) << all.fault(9).value_or("");
  for (int r = 0; r < ranks; ++r) {
    std::byte* recv = all.buffers(r).recv(0);
    expect_found(all, recv + all.shape(r).recv * 4, "a byte behind the buffer");
    for (const ResultSlice& slice : all.shape(r).result) {
      if (slice.length == 0) continue;
      expect_found(all, recv + slice.at * 4, "the first element");
      expect_found(all, recv + (slice.at + slice.length / 2) * 4, "one in the middle");
      expect_found(all, recv + (slice.at + slice.length) * 4 - 1, "the last byte");
    }
  }
}

TEST(Check, FindsAPlantedFault) {
  for (const auto operation : all_operations)
    for (const bool in_place : {false, true}) {
      if (operation == Operation::barrier) continue;
      const auto op = traits_of(operation).combines() ? std::optional(ReduceKind::sum) : std::nullopt;
      AllRanks all(point_of(operation, DatatypeKind::int32, op), 3, 2 * Pattern::period, Reuse::reuse,
                   {Splits::Kind::uneven}, in_place);
      SCOPED_TRACE(std::string(operation_name(operation)) + (in_place ? " in place" : ""));
      expect_faults_are_found(all, 3);
    }
}

TEST(Check, FindsAPlantedFaultInMessages) {
  for (const Traffic traffic : all_traffic)
    for (const int ranks : {2, 3, 4}) {
      Point point = point_of(Operation::alltoallv, DatatypeKind::int32);
      point.traffic = traffic;
      AllRanks all(point, ranks, Pattern::period + 5);
      SCOPED_TRACE(std::string(traffic_name(traffic)) + " of " + std::to_string(ranks));
      expect_faults_are_found(all, ranks);
    }
}

TEST(Check, FindsBlocksThatNeighboursExchangedInTheWrongOrder) {
  constexpr std::size_t elements = 100;
  Point point = point_of(Operation::alltoallv, DatatypeKind::int32);
  point.traffic = Traffic::sendrecv;
  AllRanks all(point, 2, elements);
  all.fill(3);
  all.communicate();
  ASSERT_FALSE(all.fault(3));
  std::byte* recv = all.buffers(1).recv(0);
  std::swap_ranges(recv, recv + elements * 4, recv + elements * 4);
  EXPECT_TRUE(all.fault(3)) << "both are from the same rank";
}

TEST(Check, KnowsTheBlocksOfAllSplits) {
  using Kind = Splits::Kind;
  for (const Splits& splits : {Splits{Kind::even}, Splits{Kind::random, 3}, Splits{Kind::zipf}, Splits{Kind::one},
                               Splits{Kind::listed, 1, {3, 0, 1}}})
    for (const auto operation : {Operation::gatherv, Operation::scatterv, Operation::allgatherv, Operation::alltoallv,
                                 Operation::reduce_scatter}) {
      const auto op = traits_of(operation).combines() ? std::optional(ReduceKind::sum) : std::nullopt;
      AllRanks all(point_of(operation, DatatypeKind::int32, op), 3, 1001, Reuse::reuse, splits);
      SCOPED_TRACE(std::string(operation_name(operation)) + ", " + splits_text(splits));
      expect_faults_are_found(all, 3);
    }
}

TEST(Check, FindsStaleAndMisplacedData) {
  AllRanks all(point_of(Operation::alltoall, DatatypeKind::uint8), 4, 4000);
  all.fill(9);
  all.communicate();
  ASSERT_FALSE(all.fault(9));
  EXPECT_TRUE(all.fault(10)) << "data of another iteration";
  std::byte* recv = all.buffers(2).recv(0);
  std::swap_ranges(recv, recv + 1000, recv + 1000);
  EXPECT_TRUE(all.fault(9)) << "blocks in the wrong order";
  all.fill(11);
  EXPECT_TRUE(all.fault(11)) << "nothing was received";
  all.communicate();
  std::memmove(all.buffers(1).recv(0) + 1, all.buffers(1).recv(0), 500);
  EXPECT_TRUE(all.fault(11)) << "shifted by a byte";
}

TEST(Check, FindsAContributionThatIsMissingOrCountedTwice) {
  for (const auto type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::int64}) {
    AllRanks all(point_of(Operation::reduce, type, ReduceKind::sum), 3, 64);
    all.fill(1);
    all.communicate();
    Buffers& root = all.buffers(2);
    const void* twice[] = {root.recv(0), all.buffers(0).send(0)};
    tutti::kernels::combine(type, ReduceKind::sum, twice, root.recv(0), 64);
    EXPECT_TRUE(all.fault(1)) << tutti::datatype_name(type);
  }
}

TEST(Check, KnowsThatFreshPagesAreZero) {
  AllRanks all(point_of(Operation::exscan, DatatypeKind::int32, ReduceKind::sum), 2, 100, Reuse::fresh);
  all.fill(1);
  all.communicate();
  EXPECT_FALSE(all.fault(1)) << all.fault(1).value_or("");
  *all.buffers(0).recv(0) = std::byte{1};
  EXPECT_TRUE(all.fault(1)) << "the first rank of exscan gets nothing";
}

}  // namespace
