// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/layout.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using namespace detail::shm;
using detail::shm::Layout;

TEST(Layout, NothingOverlapsAndAllStartsOnALine) {
  for (const int size : {2, 3, 8, 31, most_ranks}) {
    const Layout layout(size);
    std::size_t end = 0;
    constexpr std::size_t page = 4096;
    const auto follows = [&end](std::size_t begin, std::size_t bytes) {
      EXPECT_EQ(begin % cache_line, 0U);
      EXPECT_GE(begin, end);
      end = begin + bytes;
    };
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_EQ(layout.part(rank) % page, 0U) << "each rank places its own pages";
      follows(layout.part(rank), sizeof(Head));
      follows(layout.control(rank), sizeof(Control));
      for (int number = 0; number < all_cells; ++number) follows(layout.cell(rank, number), sizeof(Cell));
      for (int number = 0; number < all_cells; ++number) follows(layout.slot(rank, number), slot_bytes);
      EXPECT_EQ(end % page, 0U);
      EXPECT_GE(layout.part(rank) + Layout::early_bytes(), layout.cell(rank, ordered_cells))
          << "all that a short call touches";
      const auto holds = [&](Layout::Pages pages, std::size_t begin, std::size_t bytes) {
        EXPECT_EQ(pages.begin % page, 0U);
        EXPECT_EQ(pages.bytes % page, 0U);
        EXPECT_LE(pages.begin, begin);
        EXPECT_GE(pages.begin + pages.bytes, begin + bytes);
        EXPECT_LT(pages.bytes, bytes + 2 * page);
        EXPECT_LE(pages.begin + pages.bytes, layout.part(rank) + layout.rank_bytes());
      };
      for (int first = ordered_cells; first < all_cells; first += starts_apart)
        holds(layout.cells_pages(rank, first), layout.cell(rank, first), starts_apart * sizeof(Cell));
      for (int number = 0; number < all_cells; ++number)
        holds(layout.slot_pages(rank, number), layout.slot(rank, number), slot_bytes);
      for (int number = 0; number < all_cells; ++number) {
        follows(layout.pairs(rank, number), static_cast<std::size_t>(size) * sizeof(Pair));
        holds(layout.pairs_pages(rank, number), layout.pairs(rank, number),
              static_cast<std::size_t>(size) * sizeof(Pair));
      }
      for (const RingKind kind : {RingKind::near, RingKind::wide}) {
        EXPECT_EQ(end == layout.part(rank) + layout.promised_bytes(), kind == RingKind::wide) << "what all may need";
        follows(layout.ring(rank, kind), ring_bytes(kind));
        holds(layout.ring_pages(rank, kind), layout.ring(rank, kind), ring_bytes(kind));
      }
    }
    EXPECT_LE(end, layout.total(size));
    EXPECT_LT(layout.total(size) - end, page);
  }
}

// The bound that docs/semantics.md states.
TEST(Layout, ARankSharesAtMostFiveMebibytes) {
  for (int size = 1; size <= most_ranks; ++size) {
    EXPECT_LE(Layout(size).rank_bytes(), std::size_t{5} << 20U) << size;
    EXPECT_LE(Layout(size).promised_bytes(), std::size_t{5} << 19U) << size;
  }
}

// A rank reserves 64 KiB when the communicator is made, however many ranks there are; calls that need more reserve it
// by cells.
TEST(Layout, MemoryByTheNumberOfRanks) {
  struct Row {
    int size;
    std::size_t whole_kib;
    std::size_t most_pages_of_pairs;
  };
  for (const Row& row : {Row{2, 1904, 1}, Row{4, 1908, 2}, Row{16, 1932, 2}, Row{32, 1964, 2}, Row{56, 2012, 2},
                         Row{64, 2028, 2}, Row{128, 2160, 2}, Row{256, 2424, 3}}) {
    const Layout layout(row.size);
    EXPECT_EQ(layout.promised_bytes() / 1024, row.whole_kib) << row.size;
    for (int number = 0; number < all_cells; ++number)
      EXPECT_LE(layout.pairs_pages(0, number).bytes, row.most_pages_of_pairs * 4096) << row.size;
  }
  EXPECT_EQ(Layout::early_bytes(), std::size_t{64} << 10U);
}

TEST(Mark, IsNoCountAndDependsOnAllHistory) {
  for (const std::uint64_t history : {std::uint64_t{0}, std::uint64_t{1} << 41U, ~std::uint64_t{0}}) {
    EXPECT_GT(mark_of(history), most_chunks);
    EXPECT_LT(mark_of(history), std::uint64_t{1} << count_bits);
    EXPECT_EQ(marked_size(mark_of(history), 12) >> size_bits, mark_of(history));
    EXPECT_EQ(marked_size(mark_of(history), 12) & most_size, 12U);
    EXPECT_EQ(marked_size(mark_of(history), ~std::uint64_t{0}) & most_size, most_size);
  }
  EXPECT_NE(mark_of(0), mark_of(std::uint64_t{1} << 41U));
}

TEST(Generation, WordsOfOthersCountAsZero) {
  EXPECT_EQ(count_of(tagged(7, 12), 7), 12U);
  EXPECT_EQ(count_of(tagged(7, 12), 8), 0U);
  EXPECT_EQ(count_of(tagged(7, 12), 6), 0U);
  EXPECT_EQ(count_of(0, 1), 0U);
}

TEST(Generation, CountsOnWhenItsBitsAreUsedUp) {
  const Generation last = (Generation{1} << (64 - count_bits)) - 1;
  for (const Generation g : {last, last + 1, last + 2}) {
    EXPECT_EQ(count_of(tagged(g, 3), g), 3U);
    EXPECT_EQ(count_of(tagged(g - 1, 3), g), 0U);
  }
}

}  // namespace
}  // namespace tutti::test
