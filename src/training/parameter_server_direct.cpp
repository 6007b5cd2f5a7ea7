// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <tutti/collectives/barrier.hpp>
#include <tutti/memory.hpp>

#include "call/agreement.hpp"
#include "call/allocations.hpp"
#include "core/config.hpp"
#include "training/parameter_server_access.hpp"

namespace tutti::detail::server {
namespace {

using Word = std::atomic_ref<std::uint64_t>;
using Value = std::atomic_ref<float>;

/// Where a rank's part can be found by the ranks that have mapped it.
struct Place {
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
};

/// Rows in memory that all ranks have mapped. A push claims the row's word and writes; a pull reads the word, the row
/// and the word again (a sequence lock: Lameter, Effective synchronization on Linux/NUMA systems, 2005; memory orders
/// as in Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
class DirectRows final : public RowAccess {
 public:
  DirectRows(std::shared_ptr<Context> comm, const RowShape& shape, Allocation own, std::vector<std::byte*> parts)
      : comm_(std::move(comm)), shape_(shape), word_(comm_.size()), own_(std::move(own)), parts_(std::move(parts)) {}

  void pull(std::span<const std::int64_t> rows, std::span<float> out) override {
    for (std::size_t i = 0; i < rows.size(); ++i) read(rows[i], out.data() + i * shape_.dim);
  }

  void push(const RowGradients& gradients, const RowRule& rule, float rate) override {
    std::vector<float> change(shape_.dim);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::int64_t row = gradients.rows()[i];
      const auto gradient = gradients.gradient(i);
      const std::uint64_t before = claim(row);
      const float state = rule.next_state(RowWord::state(before), gradient);
      rule.change(state, gradient, rate, change.data());
      float* values = row_of(row);
      for (std::size_t d = 0; d < shape_.dim; ++d) {
        Value value(values[d]);
        value.store(value.load(std::memory_order_relaxed) + change[d], std::memory_order_release);
      }
      word_of(row).store(word_.next(before, state), std::memory_order_release);
    }
  }

  void fence() override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    barrier(comm_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  void progress() override {}
  [[nodiscard]] float* local() override { return static_cast<float*>(own_.data()); }
  [[nodiscard]] const char* name() const override { return "direct"; }

 private:
  static constexpr int hopeful_reads = 64;

  [[nodiscard]] std::byte* part_of(std::int64_t row) { return parts_[static_cast<std::size_t>(shape_.owner(row))]; }
  [[nodiscard]] float* row_of(std::int64_t row) {
    return reinterpret_cast<float*>(part_of(row) + shape_.row_offset(row));
  }
  [[nodiscard]] Word word_of(std::int64_t row) {
    return Word(*reinterpret_cast<std::uint64_t*>(part_of(row) + shape_.word_offset(row)));
  }

  void copy(std::int64_t row, float* out) {
    float* values = row_of(row);
    for (std::size_t d = 0; d < shape_.dim; ++d) out[d] = Value(values[d]).load(std::memory_order_acquire);
  }

  void read(std::int64_t row, float* out) {
    const Word word = word_of(row);
    RowWait wait(*comm_.state(), "pull");
    for (int tries = 0; tries < hopeful_reads; ++tries) {
      const std::uint64_t before = word.load(std::memory_order_acquire);
      if (word_.is_free(before)) {
        copy(row, out);
        if (word.load(std::memory_order_relaxed) == before) return;
      }
      wait.pause();
    }
    // Others push to it all the time: a claim keeps them away.
    const std::uint64_t before = claim(row);
    copy(row, out);
    word.store(before, std::memory_order_release);
  }

  /// The word before it. Nobody waits for anything else while holding a claim.
  std::uint64_t claim(std::int64_t row) {
    const Word word = word_of(row);
    RowWait wait(*comm_.state(), "push");
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (true) {
      if (!word_.is_free(seen)) {
        wait.pause();
        seen = word.load(std::memory_order_relaxed);
      } else if (word.compare_exchange_weak(seen, seen + RowWord::claim, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
        return seen;
      }
    }
  }

  Communicator comm_;
  RowShape shape_;
  RowWord word_;
  Allocation own_;
  std::vector<std::byte*> parts_;
};

}  // namespace

std::unique_ptr<RowAccess> make_direct(std::shared_ptr<Context> comm, const RowShape& shape) {
  const bool may_share = comm->size == 1 || (config().shared_memory && comm->topology.nodes == 1);
  if (!may_share) return nullptr;
  const Communicator whole(comm);
  Allocation own = allocate(whole, shape.bytes());
  std::vector<std::byte*> parts{static_cast<std::byte*>(own.data())};
  if (comm->size > 1) {
    Place mine;
    if (own.is_shared()) (void)shm::Allocations::instance().find(own.data(), mine.id, mine.offset);
    parts.clear();
    for (const Place& place : all_gather(*comm, mine)) {
      if (place.id == 0) return nullptr;  // on every rank: all see all places
      parts.push_back(shm::Allocations::instance().resolve(place.id, place.offset));
    }
  }
  return std::make_unique<DirectRows>(std::move(comm), shape, std::move(own), std::move(parts));
}

}  // namespace tutti::detail::server
