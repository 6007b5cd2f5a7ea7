// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <tutti/collectives/barrier.hpp>
#include <tutti/memory.hpp>

#include "training/parameter_server/access.hpp"

namespace tutti::detail::server {
namespace {

using Word = std::atomic_ref<std::uint64_t>;
using Value = std::atomic_ref<float>;

/// Rows in memory that all ranks have mapped. A push claims the row's word and writes; a pull reads the word, the row
/// and the word again (a sequence lock: Lameter, Effective synchronization on Linux/NUMA systems, 2005; memory orders
/// as in Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
class DirectRows final : public RowAccess {
 public:
  DirectRows(const Communicator& comm, const RowShape& shape, services::MappedParts memory)
      : comm_(services::share(comm)), shape_(shape), word_(comm.size()), memory_(std::move(memory)) {}

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
  [[nodiscard]] float* local() override { return static_cast<float*>(memory_.own.data()); }
  [[nodiscard]] const char* name() const override { return "direct"; }

 private:
  static constexpr int hopeful_reads = 64;

  [[nodiscard]] std::byte* part_of(std::int64_t row) {
    return memory_.parts[static_cast<std::size_t>(shape_.owner(row))];
  }
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
    RowWait wait(comm_, "pull");
    for (int tries = 0; tries < hopeful_reads; ++tries) {
      const std::uint64_t before = word.load(std::memory_order_acquire);
      if (word_.is_free(before)) {
        copy(row, out);
        if (word.load(std::memory_order_relaxed) == before) return;
      }
      wait.pause();
    }
    // Others push to this row all the time: a claim keeps them away.
    const std::uint64_t before = claim(row);
    copy(row, out);
    word.store(before, std::memory_order_release);
  }

  /// Claims the row and returns its word from before. No rank waits for anything while it holds a claim.
  std::uint64_t claim(std::int64_t row) {
    const Word word = word_of(row);
    RowWait wait(comm_, "push");
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
  services::MappedParts memory_;
};

}  // namespace

std::unique_ptr<RowAccess> make_direct(const Communicator& comm, const RowShape& shape) {
  services::MappedParts memory = services::allocate_mapped(comm, shape.bytes());
  if (memory.parts.empty()) return nullptr;
  return std::make_unique<DirectRows>(comm, shape, std::move(memory));
}

}  // namespace tutti::detail::server
