// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/work.hpp"

#include <algorithm>
#include <span>
#include <tutti/collectives/allgather.hpp>
#include <vector>

#include "call/at_turn.hpp"
#include "call/deferred_free.hpp"
#include "call/few.hpp"
#include "collectives/call.hpp"
#include "collectives/exact/words.hpp"
#include "collectives/passed.hpp"
#include "kernels/exact_digits.hpp"

namespace tutti::detail {
namespace {

using kernels::exact::Expansion;

constexpr std::size_t words_in_expansion = sizeof(Expansion) / sizeof(std::int64_t);

ExactWords words_of(const Communicator& comm, const ExactWork& work) { return {work.kind(), comm.size()}; }

/// The words of this rank's sums, which an allreduce replaces by those of all ranks.
class ExactPacking final : public Packing {
 public:
  /// own: this rank's sums, if they have been filled.
  ExactPacking(const Communicator& comm, ExactWork& work, std::span<FixedPoint> own)
      : comm_(comm.state()),
        work_(work),
        own_(own),
        words_(words_of(comm, work)),
        // The analyzer does not see that the pool takes the block back.
        block_(comm_->scratch.acquire(word_count() * sizeof(std::int64_t))) {}  // NOLINT(*-cplusplus.NewDeleteLeaks)
  ~ExactPacking() override { comm_->scratch.release(std::move(block_)); }
  ExactPacking(const ExactPacking&) = delete;
  ExactPacking& operator=(const ExactPacking&) = delete;

  void keep(std::unique_ptr<ExactWork> work) noexcept { kept_ = std::move(work); }
  [[nodiscard]] Buffer buffer() const { return {words_at(0), word_count()}; }

  void pack() override {
    for (std::size_t i = 0; i < work_.sums(); ++i) {
      FixedPoint sum;
      if (own_.empty())
        work_.fill(i, sum);
      else
        sum = own_[i];
      words_.write(sum, words_at(i));
    }
  }
  void unpack() override {
    for (std::size_t i = 0; i < work_.sums(); ++i) {
      FixedPoint total;
      words_.read(words_at(i), total);
      work_.finish(i, total);
    }
  }
  void give_up() noexcept override {
    defer_free(std::move(block_.memory));
    block_.bytes = 0;
  }

 private:
  [[nodiscard]] std::size_t word_count() const noexcept { return work_.sums() * words_.count(); }
  [[nodiscard]] std::int64_t* words_at(std::size_t i) const noexcept {
    return reinterpret_cast<std::int64_t*>(block_.data()) + i * words_.count();
  }

  ContextPtr comm_;
  std::unique_ptr<ExactWork> kept_;
  ExactWork& work_;
  std::span<FixedPoint> own_;
  ExactWords words_;
  ScratchPool::Block block_;
};

CheckedCall words_call(const Communicator& comm, std::unique_ptr<ExactPacking> packing, const Options& options) {
  ConstBuffer send = in_place;
  Buffer words = packing->buffer();
  CheckedCall call = checked_call(
      comm, {.operation = Operation::allreduce, .send = send, .recv = words, .options = options, .op = &sum});
  call.packing = std::move(packing);
  return call;
}

CheckedCall words_call(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options) {
  auto packing = std::make_unique<ExactPacking>(comm, *work, std::span<FixedPoint>());
  packing->keep(std::move(work));
  return words_call(comm, std::move(packing), options);
}

/// A blocking call by short forms.
class ShortRun {
 public:
  ShortRun(const Communicator& comm, ExactWork& work)
      : comm_(comm), work_(work), own_(work.sums()), all_(work.sums() * static_cast<std::size_t>(comm.size())) {}

  void run(const Options& options) {
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (!work_.fill(i, own_[i])) own_[i] = kernels::exact::expansion_of(filled(i));
    allgather(comm_, numbers_of(own_), numbers_of(all_), options);
    if (std::any_of(all_.begin(), all_.end(), kernels::exact::is_misfit)) return run_in_full(options);
    for (std::size_t i = 0; i < own_.size(); ++i) finish(i);
  }

 private:
  using Expansions = Few<Expansion, 8>;
  static Buffer numbers_of(Expansions& sums) { return {sums.begin()->parts.data(), sums.size() * words_in_expansion}; }

  FixedPoint& filled(std::size_t i) {
    if (full_.empty()) full_.resize(own_.size());
    work_.fill(i, full_[i]);
    return full_[i];
  }

  void run_in_full(const Options& options) {
    full_.resize(own_.size());
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (full_[i].seen == 0) work_.fill(i, full_[i]);
    detail::run(comm_, words_call(comm_, std::make_unique<ExactPacking>(comm_, work_, std::span(full_)), options),
                options);
  }

  void finish(std::size_t i) {
    const auto ranks = static_cast<std::size_t>(comm_.size());
    double rounded = 0;
    if (work_.takes_rounded() && kernels::exact::round_few(&all_[i], ranks, own_.size(), rounded))
      return work_.finish_rounded(i, rounded);
    FixedPoint total;
    for (std::size_t r = 0; r < ranks; ++r) kernels::exact::add(total, all_[r * own_.size() + i]);
    work_.finish(i, total);
  }

  const Communicator& comm_;
  ExactWork& work_;
  Expansions own_;
  Expansions all_;
  std::vector<FixedPoint> full_;
};

}  // namespace

void run_exact(const Communicator& comm, ExactWork& work, const Options& options) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  // An algorithm is that of an allreduce.
  const bool is_short = options.algorithm.empty() && ranks * words_in_expansion <= words_of(comm, work).count();
  make_or_break(*comm.state(), "exact sum", [&] {
    if (is_short) return ShortRun(comm, work).run(options);
    run(comm, words_call(comm, std::make_unique<ExactPacking>(comm, work, std::span<FixedPoint>()), options), options);
  });
}

Request start_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options) {
  return start(comm, words_call(comm, std::move(work), options), options);
}

Request prepare_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options) {
  return prepare(comm, words_call(comm, std::move(work), options), options);
}

}  // namespace tutti::detail
