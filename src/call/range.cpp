// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <stack>
#include <tutti/error.hpp>
#include <tutti/range.hpp>
#include <utility>

#include "device/nvtx.hpp"
#include "diagnosis/recorder.hpp"

namespace tutti {
namespace {

detail::trace::Log* log_of_process() noexcept {
  try {
    const detail::flight::Recorder* recorder = detail::flight::Recorder::instance();
    return recorder == nullptr ? nullptr : recorder->log();
  } catch (const Error&) {  // a variable that cannot be read; the factory of a communicator says so
    return nullptr;
  }
}

std::stack<std::optional<Range>>& open_ranges() {
  thread_local std::stack<std::optional<Range>> ranges;
  return ranges;
}

}  // namespace

Range::Range(std::string_view name) noexcept : place_(0) {
  if (detail::trace::Log* log = log_of_process(); log != nullptr) [[unlikely]]
    place_ = log->begin_range(name);
  detail::device::nvtx_push(name);
}

Range::~Range() {
  detail::device::nvtx_pop();
  if (place_ != 0) [[unlikely]]
    log_of_process()->end_range(place_);
}

void range_push(std::string_view name) { open_ranges().emplace(std::in_place, name); }

void range_pop() {
  if (open_ranges().empty())
    throw Error(ErrorCode::invalid_argument,
                "range_pop: this thread has no open range; call range_push before, in the same thread");
  open_ranges().pop();
}

}  // namespace tutti
