// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti::detail::trace {
namespace {

using flight::Form;

bool is_outstanding(const TracedCall& call) {
  return call.facts.form == Form::nonblocking || call.facts.form == Form::start;
}

/// The time at which a message is drawn to arrive: while its receiver is in a call, if it is ever.
std::int64_t arrival_of(const Part& part, const TracedCall& recv, const TracedCall& send) {
  const std::int64_t from = recv.wait != 0 ? recv.wait : recv.begin;
  return std::max(send.begin, std::min(std::max(from, send.begin), part.held_until(recv)));
}

class Events {
 public:
  explicit Events(const std::vector<Part>& parts) : parts_(parts) {}

  void add_part(std::uint32_t number) {
    const Part& part = parts_[number];
    for (std::size_t i = 0; i < part.ranges.size(); ++i) add(What::range, part.ranges[i].begin, number, i);
    for (std::size_t i = 0; i < part.calls.size(); ++i) add_call(number, i);
  }
  [[nodiscard]] std::vector<Event> take() {
    std::sort(all_.begin(), all_.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.time, a.what, a.part, a.index) < std::tuple(b.time, b.what, b.part, b.index);
    });
    return std::move(all_);
  }

 private:
  void add(What what, std::int64_t time, std::uint32_t part, std::size_t index) {
    all_.push_back({time, index, part, what});
  }
  [[nodiscard]] const TracedCall& call_of(const Link& link) const {
    return parts_[static_cast<std::size_t>(link.part)].calls[link.call];
  }

  void add_call(std::uint32_t number, std::size_t index) {
    const Part& part = parts_[number];
    const TracedCall& call = part.calls[index];
    add(is_outstanding(call) ? What::start : What::call, call.begin, number, index);
    if (is_outstanding(call)) {
      add(What::async_begin, call.begin, number, index);
      add(What::async_end, part.held_until(call), number, index);
    }
    if (call.wait != 0) add(What::wait, call.wait, number, index);
    if (call.message) {
      const TracedCall& send = call_of(call.message);
      add(What::message_out, send.begin, number, index);
      add(What::message_in, arrival_of(part, call, send), number, index);
    }
    if (call.cause && call.waited >= least_arrow) {
      const std::int64_t begin = call_of(call.cause).begin;
      add(What::wait_out, begin, number, index);
      add(What::wait_in, begin, number, index);
    }
  }

  const std::vector<Part>& parts_;
  std::vector<Event> all_;
};

}  // namespace

std::vector<Event> events_of(const std::vector<Part>& parts) {
  Events events(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) events.add_part(static_cast<std::uint32_t>(i));
  return events.take();
}

std::string name_of(const TracedCall& call) {
  const std::string_view name = flight::call_name(call.facts.call);
  switch (call.facts.form) {
    case Form::nonblocking:
      return fmt::format("i{}", name);
    case Form::init:
      return fmt::format("{}_init", name);
    case Form::start:
      return fmt::format("start {}", name);
    case Form::blocking:
      break;
  }
  return std::string(name);
}

std::string path_of(const Part& part, const TracedCall& call) {
  const std::string& way = part.text(call.facts.way);
  if (!way.empty()) return way;
  return call.facts.call == flight::Call::make_communicator ? "factory" : "messages";
}

}  // namespace tutti::detail::trace
