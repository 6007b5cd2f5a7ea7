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

std::string with_place(const CallWords& call) {
  const std::string place = words(call.site);
  return place.empty() ? call.call : fmt::format("{} {}", call.call, place);
}

std::string first_word(const std::string& call) { return call.substr(0, call.find('(')); }

}  // namespace

void require_free(const Context& comm, const BufferUses& uses, const CallWords& call, const OutstandingCall* self) {
  const std::string other = overlapping_call(uses, self);
  if (other.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}, {}: {} {}, which is outstanding; wait for that call first, or pass other memory",
                          first_word(call.call), comm.describe(), with_place(call), other));
}

CheckedExecution::CheckedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, BufferUses uses,
                                   ReceiveShadows shadows, CallWords words, std::uint64_t number)
    : Execution(std::move(comm), {}, inner->persistent()),
      inner_(std::move(inner)),
      uses_(std::move(uses)),
      shadows_(std::move(shadows)),
      words_(std::move(words)),
      number_(number) {
  watch();
  enlist();
}

CheckedExecution::CheckedExecution(ContextPtr comm, std::shared_ptr<Execution> inner, BufferUses uses,
                                   ReceiveShadows shadows, CallWords words, std::unique_ptr<ComparedMessages> messages)
    : Execution(std::move(comm), {}, inner->persistent()),
      inner_(std::move(inner)),
      uses_(std::move(uses)),
      shadows_(std::move(shadows)),
      words_(std::move(words)),
      messages_(std::move(messages)),
      is_compared_(true) {
  watch();
  enlist();
}

CheckedExecution::~CheckedExecution() { delist(); }

bool CheckedExecution::begin() {
  is_seen_ = false;
  if (persistent()) require_free(comm(), uses_, words_, this);
  fingerprints_.clear();
  for (const Bytes& bytes : uses_.read) fingerprints_.push_back(fingerprint(bytes, comm().check->all_bytes()));
  for (const auto& shadow : shadows_) shadow->begin();
  if (messages_ != nullptr) messages_->begin();
  inner_->start();
  return step();
}

bool CheckedExecution::compare() {
  if (!is_compared_ && !progress_hook::is_inside()) is_compared_ = comm().check->compare(*number_);
  return is_compared_;
}

bool CheckedExecution::step() {
  const bool is_compared = compare();
  if (!inner_->poll()) return false;
  inner_->rethrow();
  if (!is_compared) return false;
  for (const auto& shadow : shadows_) shadow->end();
  status_ = inner_->status();
  inner_->acknowledge();
  if (messages_ != nullptr) messages_->end(status_);
  return true;
}

void CheckedExecution::verify() const {
  is_seen_ = true;
  for (std::size_t i = 0; i < fingerprints_.size(); ++i) {
    if (fingerprint(uses_.read[i], comm().check->all_bytes()) == fingerprints_[i]) continue;
    throw_changed("send", "change it only after the wait");
  }
  for (const auto& shadow : shadows_)
    if (shadow->is_changed()) throw_changed("receive", "use it only after the wait");
}

void CheckedExecution::throw_changed(std::string_view buffer, std::string_view remedy) const {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}, {}: the {} buffer changed before the call was complete: {}; {}", first_word(words_.call),
                          comm().describe(), buffer, with_place(words_), remedy));
}

std::string CheckedExecution::words() const { return with_place(words_); }

void CheckedExecution::cancel() noexcept {
  drop_part(*inner_);
  for (const auto& shadow : shadows_) defer_free(shadow->memory());
  if (messages_ != nullptr) messages_->give_up();
}

}  // namespace tutti::detail
