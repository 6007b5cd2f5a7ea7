// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/checked_execution.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>
#include <utility>

#include "call/check.hpp"
#include "call/deferred_free.hpp"
#include "core/progress_hook.hpp"

namespace tutti::detail {
namespace {

std::string words_of(const CallWords& call) { return with_place(call.call, words(call.site)); }

std::string first_word(const std::string& call) { return call.substr(0, call.find('(')); }

}  // namespace

void require_free(const Context& comm, const BufferUses& uses, const CallWords& call, const OutstandingCall* self) {
  const std::string other = overlapping_call(uses, self);
  if (other.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}, {}: {} {}, which is outstanding; wait for that call first, or pass other memory",
                          first_word(call.call), comm.describe(), words_of(call), other));
}

Watch watch_of(const Context& comm, std::uint64_t number, BufferUses&& uses, ReceiveShadows&& shadows) {
  const CallRecord& record = comm.check->last();
  return {std::move(uses), std::move(shadows), {call_words(record), record.site}, number, nullptr};
}

CheckedExecution::CheckedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, Watch&& watch)
    : Execution(std::move(comm), {}, inner->persistent()),
      inner_(std::move(inner)),
      watch_(std::move(watch)),
      is_compared_(!watch_.number) {
  Execution::watch();
  enlist();
}

CheckedExecution::~CheckedExecution() { delist(); }

bool CheckedExecution::begin() {
  is_seen_ = false;
  if (persistent()) require_free(comm(), watch_.uses, watch_.words, this);
  fingerprints_.clear();
  for (const Bytes& bytes : watch_.uses.read) fingerprints_.push_back(fingerprint(bytes, comm().check->all_bytes()));
  for (const auto& shadow : watch_.shadows) shadow->begin();
  if (watch_.messages != nullptr) watch_.messages->begin();
  inner_->start();
  return step();
}

bool CheckedExecution::compare() {
  if (!is_compared_ && !progress_hook::is_inside()) is_compared_ = comm().check->compare(*watch_.number);
  return is_compared_;
}

bool CheckedExecution::step() {
  const bool is_compared = compare();
  if (!inner_->poll()) return false;
  inner_->rethrow();
  if (!is_compared) return false;
  for (const auto& shadow : watch_.shadows) shadow->end();
  status_ = inner_->status();
  inner_->acknowledge();
  if (watch_.messages != nullptr) watch_.messages->end(status_);
  return true;
}

void CheckedExecution::verify() const {
  is_seen_ = true;
  for (std::size_t i = 0; i < fingerprints_.size(); ++i) {
    if (fingerprint(watch_.uses.read[i], comm().check->all_bytes()) == fingerprints_[i]) continue;
    throw_changed("send", "change it only after the wait");
  }
  for (const auto& shadow : watch_.shadows)
    if (shadow->is_changed()) throw_changed("receive", "use it only after the wait");
}

void CheckedExecution::throw_changed(std::string_view buffer, std::string_view remedy) const {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}, {}: the {} buffer changed before the call was complete: {}; {}",
                          first_word(watch_.words.call), comm().describe(), buffer, words_of(watch_.words), remedy));
}

std::string CheckedExecution::words() const { return words_of(watch_.words); }

void CheckedExecution::cancel() noexcept {
  drop_part(*inner_);
  for (const auto& shadow : watch_.shadows) defer_free(shadow->memory());
  if (watch_.messages != nullptr) watch_.messages->give_up();
}

}  // namespace tutti::detail
