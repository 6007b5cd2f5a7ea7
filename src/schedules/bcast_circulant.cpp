// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <optional>

#include "schedules/algorithms.hpp"
#include "schedules/pipeline.hpp"

/// Chunks that follow one another from the root over the edges of a circulant graph: in each round each place sends a
/// chunk to a place ahead of it and receives one from as far behind it, at the distances 1, 2, ..., ceil(size / 2) in
/// turn, rounded up halves of the size. Träff, Optimal Broadcast Schedules in Logarithmic Time, arXiv 2407.18004, 2024.
namespace tutti::schedules {
namespace {

/// The distances, and the rounds until all places have a first chunk.
class Circle {
 public:
  explicit Circle(int size) : size_(size) {}
  [[nodiscard]] int steps() const { return ceil_log2(size_); }
  [[nodiscard]] int distance(int step) const { return ((size_ - 1) >> (steps() - step)) + 1; }
  /// The step in which a place, if not the root, gets its first chunk.
  [[nodiscard]] int first_step(int place) const {
    int step = steps() - 1;
    for (; place != distance(step); --step)
      if (place > distance(step)) place -= distance(step);
    return step;
  }

 private:
  int size_;
};

/// What a place receives in each of some `steps` rounds that follow one another: the chunk that the root began with in
/// one of them, or, if negative, in the rounds before. A search for the ways from the root to this place, the later
/// chunk the longer its way.
class Receipts {
 public:
  Receipts(const Circle& circle, int size, int place)
      : circle_(circle), target_(size + place), own_(circle.first_step(place)), open_((2U << circle.steps()) - 1) {
    close(own_);
    find(0, 2 * size, circle.steps());
  }
  [[nodiscard]] int operator[](std::size_t step) const {
    return begun_[step] == circle_.steps() ? own_ : begun_[step] - circle_.steps();
  }

 private:
  [[nodiscard]] int left(std::size_t more) const {
    return target_ - circle_.distance(static_cast<int>(begun_.size() + more));
  }
  [[nodiscard]] bool is_complete() const { return begun_.size() == static_cast<std::size_t>(circle_.steps()); }
  void close(int step) { open_ &= ~(1U << step); }

  /// Goes on from a place, by steps of at most `first` to places below a bound.
  void find(int from, int bound, int first) {
    for (int step = first; step >= 0 && !is_complete(); --step) {
      const int to = from + circle_.distance(step);
      if ((open_ >> step) % 2 == 0 || to > left(0) || to >= bound) continue;
      if (to <= left(1)) find(to, bound, step);
      if (is_complete() || from > left(1)) return;
      bound = to;
      close(step);
      begun_.push_back(step);
    }
  }

  const Circle& circle_;
  int target_;
  int own_;
  unsigned open_;
  std::vector<int> begun_;
};

/// The rounds of a call: whether a place receives a chunk, and which one.
class Rounds {
 public:
  Rounds(const Problem& p, int chunks)
      : circle_(p.size), size_(p.size), chunks_(chunks), place_(wrap(p.rank - p.root, p.size)), root_(p.root) {
    if (p.size == 1) return;
    before_ = (circle_.steps() - (chunks - 1) % circle_.steps()) % circle_.steps();
    if (place_ != 0) taken_ = chunks_of(place_);
    for (int step = 0; step < circle_.steps(); ++step)
      if (target(step) != 0) given_[static_cast<std::size_t>(step)] = chunks_of(target(step));
  }
  [[nodiscard]] static int number(int size, int chunks) { return size > 1 ? chunks - 1 + ceil_log2(size) : 0; }

  [[nodiscard]] std::optional<int> taken(int round) const { return place_ == 0 ? std::nullopt : at(taken_, round); }
  [[nodiscard]] std::optional<int> given(int round) const {
    return target(step_of(round)) == 0 ? std::nullopt : at(given_[static_cast<std::size_t>(step_of(round))], round);
  }
  [[nodiscard]] int giver(int round) const { return wrap(place_ - circle_.distance(step_of(round)) + root_, size_); }
  [[nodiscard]] int taker(int round) const { return wrap(target(step_of(round)) + root_, size_); }

 private:
  using Chunk = std::optional<int>;
  [[nodiscard]] int step_of(int round) const { return (round + before_) % circle_.steps(); }
  [[nodiscard]] int target(int step) const { return wrap(place_ + circle_.distance(step), size_); }
  [[nodiscard]] static Chunk at(const std::vector<Chunk>& chunks, int round) {
    return chunks[static_cast<std::size_t>(round)];
  }

  /// By round. Once the root has none left it sends the last one on, which each place takes once.
  [[nodiscard]] std::vector<Chunk> chunks_of(int place) const {
    const Receipts receipts(circle_, size_, place);
    std::vector<Chunk> chunks;
    bool has_last = false;
    for (int round = 0; round < number(size_, chunks_); ++round) {
      const int turn = (round + before_) / circle_.steps();
      const int chunk = receipts[static_cast<std::size_t>(step_of(round))] + turn * circle_.steps() - before_;
      const bool is_last = chunk >= chunks_ - 1;
      chunks.push_back(chunk < 0 || (is_last && has_last) ? std::nullopt : Chunk(std::min(chunk, chunks_ - 1)));
      has_last = has_last || is_last;
    }
    return chunks;
  }

  Circle circle_;
  int size_;
  int chunks_;
  int place_;
  int root_;
  int before_ = 0;  ///< steps of the first turn that are left out
  std::vector<Chunk> taken_;
  std::array<std::vector<Chunk>, 32> given_;
};

int chunks_on(int size, double bytes, double start) {
  return pipeline_chunks(std::max(ceil_log2(size) - 1, 0), bytes, start);
}

}  // namespace

Schedule bcast_circulant(const Problem& p) {
  Builder b;
  const Chunks chunks({0, p.count}, chunks_on(p.size, bytes_of(p), p.starts.through));
  const Rounds rounds(p, chunks.number());
  for (int round = 0; round < Rounds::number(p.size, chunks.number()); ++round) {
    if (const auto chunk = rounds.taken(round)) b.recv(rounds.giver(round), output(chunks[*chunk]));
    if (const auto chunk = rounds.given(round)) b.send(rounds.taker(round), output(chunks[*chunk]));
    b.end_round();
  }
  return b.finish(0, true);
}

Cost bcast_circulant_cost(int size, double bytes, double start) {
  const int chunks = chunks_on(size, bytes, start);
  const double rounds = Rounds::number(size, chunks);
  return {.rounds = rounds, .bytes = rounds * bytes / chunks, .messages = rounds};
}

Schedule reduce_circulant(const Problem& p) {
  Builder b;
  const Chunks chunks({0, p.count}, chunks_on(p.size, bytes_of(p), p.starts.through));
  const Rounds rounds(p, chunks.number());
  // Only the root has an output.
  const Slice partial = p.rank == p.root ? output(0, p.count) : scratch(0, p.count);
  if (p.size == 1) b.copy(input(0, p.count), partial);
  std::vector<Slice> mine(static_cast<std::size_t>(chunks.number()), input(0, p.count));
  const std::size_t longest = chunks[0].count;
  for (int round = Rounds::number(p.size, chunks.number()) - 1; round >= 0; --round) {
    if (const auto chunk = rounds.taken(round))
      b.send(rounds.giver(round), part_of(mine[static_cast<std::size_t>(*chunk)], chunks[*chunk]));
    if (const auto chunk = rounds.given(round)) {
      Slice& own = mine[static_cast<std::size_t>(*chunk)];
      const Slice received = scratch(p.count, chunks[*chunk].count);
      b.recv(rounds.taker(round), received);
      b.reduce({part_of(own, chunks[*chunk]), received}, part_of(partial, chunks[*chunk]));
      own = partial;
    }
    b.end_round();
  }
  return b.finish(p.count + longest, true);
}

Cost reduce_circulant_cost(int size, double bytes, double start) {
  Cost cost = bcast_circulant_cost(size, bytes, start);
  cost.reduced_bytes = 2 * cost.bytes;
  cost.copied_bytes = size == 1 ? bytes : 0;
  return cost;
}

}  // namespace tutti::schedules
