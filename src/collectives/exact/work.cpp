// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/work.hpp"

#include <memory>
#include <span>
#include <string>
#include <tutti/collectives/allgather.hpp>
#include <tutti/request.hpp>

#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/execution.hpp"
#include "call/known_calls.hpp"
#include "collectives/call.hpp"
#include "collectives/exact/short_sums.hpp"
#include "collectives/exact/words.hpp"
#include "collectives/passed.hpp"

namespace tutti::detail {
namespace {

/// A persistent exact sum that begins with short forms. Both messages are persistent calls, so that the second one,
/// which few sums need, has its place among the calls of all ranks.
class ShortExecution final : public Execution {
 public:
  /// gather: of the blocks of `sums`. in_full: takes the sums of this rank from `sums`, and hands out the totals.
  ShortExecution(ContextPtr comm, std::shared_ptr<ShortSums> sums, const Request& gather, const Request& in_full);

  [[nodiscard]] std::string name() const override { return running_->name(); }
  void announce_backoff() noexcept override { running_->announce_backoff(); }
  void backoff() noexcept override { running_->backoff(); }
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override {
    return gather_->goes_on_inside_mpi() && in_full_->goes_on_inside_mpi();
  }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool run(const std::shared_ptr<Execution>& execution);
  [[nodiscard]] bool end();

  std::shared_ptr<ShortSums> sums_;
  std::shared_ptr<Execution> gather_;
  std::shared_ptr<Execution> in_full_;
  std::shared_ptr<Execution> running_;
};

ShortExecution::ShortExecution(ContextPtr comm, std::shared_ptr<ShortSums> sums, const Request& gather,
                               const Request& in_full)
    : Execution(std::move(comm), {}, true),
      sums_(std::move(sums)),
      gather_(gather.execution()),
      in_full_(in_full.execution()),
      running_(gather_) {}

bool ShortExecution::begin() {
  sums_->fill(ShortSums::most_parts);
  return run(gather_);
}

bool ShortExecution::step() { return running_->poll() && end(); }

bool ShortExecution::run(const std::shared_ptr<Execution>& execution) {
  running_ = execution;
  running_->start();
  return running_->finished() && end();
}

bool ShortExecution::end() {
  running_->rethrow();
  running_->acknowledge();
  if (running_ == in_full_) return true;
  if (sums_->has_misfit()) return run(in_full_);
  sums_->finish();
  return true;
}

void ShortExecution::cancel() noexcept {
  drop_part(*running_);
  defer_free(sums_);
}

ExactWords words_of(const Communicator& comm, const ExactWork& work) { return {work.kind(), comm.size()}; }

/// The words of this rank's sums, which an allreduce replaces by those of all ranks.
class ExactPacking final : public Packing {
 public:
  /// begun: has taken this rank's sums; null: nobody has.
  ExactPacking(const Communicator& comm, ExactWork& work, ShortSums* begun = nullptr)
      : comm_(comm.state()),
        work_(work),
        begun_(begun),
        words_(words_of(comm, work)),
        // The analyzer does not see that the pool takes the block back.
        block_(comm_->scratch.acquire(word_count() * sizeof(std::int64_t))) {}  // NOLINT(*-cplusplus.NewDeleteLeaks)
  ~ExactPacking() override { comm_->scratch.release(std::move(block_)); }
  ExactPacking(const ExactPacking&) = delete;
  ExactPacking& operator=(const ExactPacking&) = delete;

  void keep(std::unique_ptr<ExactWork> work) noexcept { kept_ = std::move(work); }
  [[nodiscard]] Buffer buffer() const { return {words_at(0), word_count()}; }

  void pack() override {
    if (begun_ != nullptr) return pack(begun_->in_full());
    for (std::size_t i = 0; i < work_.sums(); ++i) {
      FixedPoint sum;
      work_.fill(i, sum);
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
  void pack(std::span<FixedPoint> sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) words_.write(sums[i], words_at(i));
  }
  [[nodiscard]] std::size_t word_count() const noexcept { return work_.sums() * words_.count(); }
  [[nodiscard]] std::int64_t* words_at(std::size_t i) const noexcept {
    return reinterpret_cast<std::int64_t*>(block_.data()) + i * words_.count();
  }

  ContextPtr comm_;
  std::unique_ptr<ExactWork> kept_;
  ExactWork& work_;
  ShortSums* begun_;
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
  auto packing = std::make_unique<ExactPacking>(comm, *work);
  packing->keep(std::move(work));
  return words_call(comm, std::move(packing), options);
}

/// Whether calls begin with short forms: where these are no longer than words, and no algorithm is named, which is one
/// of an allreduce.
bool begins_short(const Communicator& comm, const ExactWork& work, const Options& options) {
  const std::size_t words = static_cast<std::size_t>(comm.size()) * ShortSums::most_parts;
  return options.algorithm.empty() && words <= words_of(comm, work).count();
}

bool gather_parts(const Communicator& comm, ShortSums& sums, std::size_t parts, const Options& options) {
  sums.fill(parts);
  allgather(comm, in_place, sums.blocks(), options);
  return !sums.has_misfit();
}

/// Many sums go as single numbers once those of the last calls have been such, as all ranks have seen.
bool gather(const Communicator& comm, ShortSums& sums, std::size_t count, const Options& options) {
  constexpr std::size_t many = 16;
  constexpr std::size_t calls = 4;
  if (count < many) return gather_parts(comm, sums, ShortSums::most_parts, options);
  std::size_t& single = comm.state()->known->single_sums;
  const bool fits = (single >= calls && gather_parts(comm, sums, 1, options)) ||
                    gather_parts(comm, sums, ShortSums::most_parts, options);
  single = fits && sums.is_single() ? single + 1 : 0;
  return fits;
}

void run_short(const Communicator& comm, ExactWork& work, const Options& options) {
  ShortSums sums(comm, work);
  if (gather(comm, sums, work.sums(), options)) return sums.finish();
  run(comm, words_call(comm, std::make_unique<ExactPacking>(comm, work, &sums), options), options);
}

}  // namespace

void run_exact(const Communicator& comm, ExactWork& work, const Options& options) {
  make_or_break(*comm.state(), "exact sum", [&] {
    if (begins_short(comm, work, options)) return run_short(comm, work, options);
    run(comm, words_call(comm, std::make_unique<ExactPacking>(comm, work), options), options);
  });
}

Request start_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options) {
  return start(comm, words_call(comm, std::move(work), options), options);
}

Request prepare_exact(const Communicator& comm, std::unique_ptr<ExactWork> work, const Options& options) {
  if (!begins_short(comm, *work, options)) return prepare(comm, words_call(comm, std::move(work), options), options);
  auto sums = std::make_shared<ShortSums>(comm, *work);
  const Request gather = allgather_init(comm, in_place, sums->blocks(), options);
  auto packing = std::make_unique<ExactPacking>(comm, *work, sums.get());
  packing->keep(std::move(work));
  const Request in_full = prepare(comm, words_call(comm, std::move(packing), options), options);
  return Request(std::make_shared<ShortExecution>(comm.state(), std::move(sums), gather, in_full));
}

}  // namespace tutti::detail
