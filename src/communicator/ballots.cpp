// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/ballots.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <string>
#include <tutti/error.hpp>

#include "call/segment.hpp"
#include "core/hash.hpp"
#include "outofband/endpoint.hpp"

namespace tutti::detail {
namespace {

constexpr int most_ranks_of_a_page = 256;

/// Ranks of one node.
class SharedBallots final : public Ballots {
 public:
  explicit SharedBallots(const Context& context, std::uint64_t key) : rank_(context.rank) {
    // Nobody else knows the mark, so nobody guesses the name.
    name_.text = shm::SegmentName::of(context.mark, key);
    std::string problem;
    page_ = shm::Segment::meet(name_, sizeof(Page), problem);
    if (!page_.valid())
      throw Error(ErrorCode::not_supported,
                  fmt::format("shrink, {}: {}; the ranks need shared memory to agree in", context.describe(), problem));
  }
  void write(int question, std::uint64_t word) override { at(question, rank_).store(word, std::memory_order_release); }
  std::uint64_t read(int question, int rank) override { return at(question, rank).load(std::memory_order_acquire); }
  void close() noexcept override { name_.remove(); }

 private:
  struct alignas(64) Ballot {
    std::array<std::atomic<std::uint64_t>, most_questions> words;
  };
  using Page = std::array<Ballot, most_ranks_of_a_page>;

  [[nodiscard]] std::atomic<std::uint64_t>& at(int question, int rank) const {
    auto& page = *reinterpret_cast<Page*>(page_.data());
    return page[static_cast<std::size_t>(rank)].words[static_cast<std::size_t>(question)];
  }

  int rank_;
  shm::SegmentName name_{};
  shm::Segment page_{};
};

/// Ranks of several nodes, each of which is told of the end of any other.
class ToldBallots final : public Ballots {
 public:
  ToldBallots(const Context& context, std::uint64_t key) : rank_(context.rank), key_(key) {}
  void write(int question, std::uint64_t word) override {
    outofband::Endpoint::instance().say({key_of(question), static_cast<std::uint64_t>(rank_), word});
  }
  std::uint64_t read(int question, int rank) override {
    return outofband::Endpoint::instance().heard(key_of(question), static_cast<std::uint64_t>(rank));
  }

 private:
  [[nodiscard]] std::uint64_t key_of(int question) const { return Hash().add(key_).add(question).value(); }
  int rank_;
  std::uint64_t key_;
};

}  // namespace

std::unique_ptr<Ballots> Ballots::make(Context& context) {
  const auto key = Hash().add(context.mark).add(context.shrinks++).value();
  if (context.peers.sees_all() && context.size <= most_ranks_of_a_page)
    return std::make_unique<SharedBallots>(context, key);
  if (context.peers.watches_all() && !context.peers.sees_all()) return std::make_unique<ToldBallots>(context, key);
  throw Error(ErrorCode::not_supported,
              fmt::format("shrink, {}: the ranks must be at most {} on one node and in one PID namespace, where each "
                          "sees the end of the others, or be told of it (TUTTI_HEARTBEAT); end the program and start "
                          "it anew",
                          context.describe(), most_ranks_of_a_page));
}

}  // namespace tutti::detail
