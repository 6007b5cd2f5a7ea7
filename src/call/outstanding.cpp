// SPDX-License-Identifier: BSD-3-Clause
#include "call/outstanding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "call/check.hpp"
#include "call/context.hpp"
#include "core/hash.hpp"
#include "core/mpi_call.hpp"
#include "diagnosis/site.hpp"

namespace tutti::detail {
namespace {

struct AllCalls {
  std::mutex mutex;
  std::atomic<std::size_t> count{0};
  std::vector<const OutstandingCall*> calls;
};

// Never destroyed, because requests of static objects may end after the statics of this file.
AllCalls& all_calls() {
  static auto* instance = new AllCalls;
  return *instance;
}

}  // namespace

void OutstandingCall::enlist() {
  AllCalls& all = all_calls();
  const std::lock_guard lock(all.mutex);
  all.calls.push_back(this);
  all.count.store(all.calls.size(), std::memory_order_relaxed);
}

void OutstandingCall::delist() noexcept {
  AllCalls& all = all_calls();
  const std::lock_guard lock(all.mutex);
  std::erase(all.calls, this);
  all.count.store(all.calls.size(), std::memory_order_relaxed);
}

bool has_outstanding_calls() noexcept { return all_calls().count.load(std::memory_order_relaxed) > 0; }

std::string overlapping_call(const BufferUses& uses, const OutstandingCall* self) {
  AllCalls& all = all_calls();
  const std::lock_guard lock(all.mutex);
  for (const OutstandingCall* call : all.calls) {
    if (call == self || !call->is_outstanding()) continue;
    const BufferUses& theirs = call->uses();
    if (share_memory(uses.written, theirs.written)) return "writes memory that it shares with " + call->words();
    if (share_memory(uses.written, theirs.read)) return "writes memory that is still sent by " + call->words();
    if (share_memory(uses.read, theirs.written)) return "reads memory that is still written by " + call->words();
  }
  return {};
}

void report_lost_requests() {
  AllCalls& all = all_calls();
  const std::lock_guard lock(all.mutex);
  std::string lines;
  for (const OutstandingCall* call : all.calls)
    if (call->is_outstanding()) lines += fmt::format("  {}\n", call->words());
  if (lines.empty()) return;
  std::fputs(
      fmt::format("tutti: check: {}MPI_Finalize finds requests that were never completed; wait for each, or test "
                  "it until it is done\n{}",
                  error_prefix(), lines)
          .c_str(),
      stderr);
}

void report_lost_communicator(const Context& context) {
  if (!context.check || is_in_preload_library()) return;
  const std::string place = words(context.check->made_at());
  std::fputs(fmt::format("tutti: check: {}MPI_Finalize finds a communicator that was never freed: {}{}{}; free it, or "
                         "let its object end before\n",
                         error_prefix(), context.describe(), place.empty() ? "" : ", made ", place)
                 .c_str(),
             stderr);
}

}  // namespace tutti::detail
