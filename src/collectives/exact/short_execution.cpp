// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/short_execution.hpp"

#include "call/deferred_free.hpp"

namespace tutti::detail {

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

}  // namespace tutti::detail
