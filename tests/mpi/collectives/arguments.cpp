// SPDX-License-Identifier: BSD-3-Clause
// The blocks of v-forms: one that ends with the buffer is taken, and one that ends an element behind it is refused.
#include <numeric>

#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using Counts = std::vector<std::size_t>;

const Communicator& world() { return communicators().front(); }
std::size_t ranks() { return static_cast<std::size_t>(world().size()); }

/// Two elements for each rank, one behind another.
Counts twos() { return Counts(ranks(), 2); }
Counts places() {
  Counts all(ranks());
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = 2 * r;
  return all;
}

template <typename Call>
void expect_refused(const char* argument, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "a block behind the end of " << argument << " was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
    EXPECT_NE(std::string(e.what()).find(argument), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("ends at element"), std::string::npos) << e.what();
  }
}

/// A communicator for a call that is refused on one rank only: no other rank makes a call there.
Communicator apart() { return Communicator::duplicate(world().mpi_handle()); }

/// The counts, or the places, of which the block of the last rank ends an element later.
struct TooFar {
  Counts counts;
  Counts displs;
};
std::vector<TooFar> too_far() {
  TooFar longer{twos(), places()};
  ++longer.counts.back();
  TooFar shifted{twos(), places()};
  ++shifted.displs.back();
  return {longer, shifted};
}

TEST(Blocks, ThatAreNegativeAreNamedByTheirList) {
  const std::vector<int> mine(2);
  std::vector<int> all(2 * ranks());
  const auto text_of = [&](const Counts& counts, const Counts& displs) -> std::string {
    try {
      allgatherv(world(), mine, all, counts, displs);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  Counts negative = twos();
  negative.back() = static_cast<std::size_t>(-1);
  EXPECT_NE(text_of(negative, places()).find("argument recv_counts is -1 for rank "), std::string::npos)
      << text_of(negative, places());
  EXPECT_NE(text_of(twos(), negative).find("argument recv_displs is -1 for rank "), std::string::npos)
      << text_of(twos(), negative);
}

TEST(Blocks, OfAllgatherv) {
  std::vector<int> mine(2, world().rank());
  std::vector<int> all(2 * ranks());
  allgatherv(world(), mine, all, twos(), places());
  EXPECT_EQ(all.back(), world().size() - 1);
  // The last rank's own count would differ from its buffer.
  const TooFar wrong = too_far().back();
  expect_refused("recv", [&] { allgatherv(world(), mine, all, wrong.counts, wrong.displs); });
}

TEST(Blocks, OfGatherv) {
  std::vector<int> mine(2, world().rank());
  std::vector<int> all(2 * ranks());
  gatherv(world(), mine, all, twos(), places(), 0);
  const Communicator other = apart();
  if (world().rank() == 0) {
    EXPECT_EQ(all.back(), world().size() - 1);
    const TooFar wrong = too_far().back();
    expect_refused("recv", [&] { gatherv(other, mine, all, wrong.counts, wrong.displs, 0); });
  }
}

TEST(Blocks, OfScatterv) {
  std::vector<int> all(2 * ranks());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> mine(2);
  scatterv(world(), all, twos(), places(), mine, 0);
  EXPECT_EQ(mine[1], 2 * world().rank() + 1);
  const Communicator other = apart();
  if (world().rank() == 0) {
    const TooFar wrong = too_far().back();
    expect_refused("send", [&] { scatterv(other, all, wrong.counts, wrong.displs, mine, 0); });
  }
}

TEST(Blocks, OfAlltoallv) {
  std::vector<int> out(2 * ranks(), world().rank());
  std::vector<int> in(2 * ranks());
  alltoallv(world(), out, twos(), places(), in, twos(), places());
  EXPECT_EQ(in.back(), world().size() - 1);
  for (const TooFar& wrong : too_far()) {
    expect_refused("send", [&] { alltoallv(world(), out, wrong.counts, wrong.displs, in, twos(), places()); });
    expect_refused("recv", [&] { alltoallv(world(), out, twos(), places(), in, wrong.counts, wrong.displs); });
  }
}

}  // namespace
}  // namespace tutti::test
