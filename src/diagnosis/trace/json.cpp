// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "diagnosis/trace/events.hpp"

namespace tutti::detail::trace {
namespace {

/// The bytes of a character in UTF-8 at the begin of a text; 0: it is none.
std::size_t character_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                                                            : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 0;
  if (bytes == 3 && first == 0xe0 && static_cast<unsigned char>(text[1]) < 0xa0) return 0;
  if (bytes == 3 && first == 0xed && static_cast<unsigned char>(text[1]) >= 0xa0) return 0;
  return bytes;
}

/// Microseconds, to the nanosecond.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// A trace while it is written.
class Writer {
 public:
  Writer(std::FILE* file, const std::vector<Part>& parts) : file_(file), parts_(parts) {}

  void processes() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PartHeader& header = parts_[i].header;
      const std::string name = fmt::format("rank {} ({})", header.world_rank, parts_[i].host);
      line(
          fmt::format(R"({{"ph":"M","ts":0,"pid":{},"name":"process_name","args":{{"name":{},"ended":{},"lost":{}}}}})",
                      process(i), json_text(name), header.ended != 0, header.lost));
      line(fmt::format(R"({{"ph":"M","ts":0,"pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                       process(i)));
    }
  }

  void write(const Event& event) {
    switch (event.what) {
      case What::range:
        return range(event);
      case What::call:
      case What::start:
        return slice(event);
      case What::wait:
        return wait(event);
      case What::async_begin:
      case What::async_end:
        return async(event);
      case What::message_out:
      case What::message_in:
      case What::wait_out:
      case What::wait_in:
        return arrow(event);
    }
  }

 private:
  /// The processes of jobs that know no ranks are numbered behind those that do.
  [[nodiscard]] int process(std::size_t part) const {
    constexpr int first_unknown = 1 << 24;
    const int rank = parts_[part].header.world_rank;
    return rank >= 0 ? rank : first_unknown + static_cast<int>(part);
  }
  void line(const std::string& text) {
    std::fputs(is_first_ ? "" : ",\n", file_);
    std::fputs(text.c_str(), file_);
    is_first_ = false;
  }
  static std::string head(char phase, std::int64_t time, int process, std::uint32_t thread, std::string_view name,
                          std::string_view category) {
    return fmt::format(R"({{"ph":"{}","ts":{},"pid":{},"tid":{},"name":{},"cat":"{}")", phase, microseconds(time),
                       process, thread, json_text(name), category);
  }

  void range(const Event& event) {
    const TracedRange& range = parts_[event.part].ranges[event.index];
    const std::int64_t end = range.end != 0 ? range.end : std::max(parts_[event.part].seen, range.begin);
    line(head('X', event.time, process(event.part), range.thread, range.name, "range") +
         fmt::format(R"(,"dur":{}}})", microseconds(end - range.begin)));
  }

  /// A list of numbers, such as the bytes of blocks.
  static std::string list(std::string_view name, std::span<const std::uint64_t> numbers) {
    return numbers.empty() ? "" : fmt::format(R"(,"{}":[{}])", name, fmt::join(numbers, ","));
  }
  /// What a call moves to and from each rank, in the slice with which it begins.
  [[nodiscard]] static std::string blocks(const Part& part, const TracedCall& call) {
    std::string text;
    if (const auto found = part.blocks.find(call.slot); found != part.blocks.end())
      text = list("send_bytes", found->second.given) + list("recv_bytes", found->second.taken);
    if (call.facts.call != flight::Call::group) return text;
    std::string messages;
    for (const Transfer& one : part.messages(call))
      messages += fmt::format(R"({}{{"{}":{},"tag":{},"bytes":{}}})", messages.empty() ? "" : ",",
                              one.is_recv ? "source" : "destination", one.peer, one.tag, one.bytes);
    return text + fmt::format(R"(,"messages":[{}])", messages);
  }

  /// is_held: the program cannot go on in this slice, and so may wait for another rank.
  /// Without the brace at their end.
  [[nodiscard]] std::string arguments(const Part& part, const TracedCall& call, bool is_held) const {
    const flight::Facts& facts = call.facts;
    const Communicator& communicator = part.communicator(call);
    std::string text =
        fmt::format(R"("args":{{"call":"{}","form":"{}","state":"{}","bytes":{},"path":{})", call_name(facts.call),
                    form_name(facts.form), state_name(call.state), facts.bytes, json_text(path_of(part, call)));
    auto out = std::back_inserter(text);
    if (communicator.mark != 0)
      fmt::format_to(out, R"(,"communicator":{},"mark":"{:016x}","rank":{},"ranks":{})", json_text(communicator.name),
                     communicator.mark, communicator.rank, communicator.size);
    if (facts.sequence != 0) fmt::format_to(out, R"(,"sequence":{})", facts.sequence);
    if (facts.type != 0)
      fmt::format_to(out, R"(,"datatype":{})", json_text(datatype_name(static_cast<DatatypeKind>(facts.type))));
    if (facts.op != 0) fmt::format_to(out, R"(,"op":{})", json_text(reduce_op_name(static_cast<ReduceKind>(facts.op))));
    if (facts.peer != -1) fmt::format_to(out, R"(,"{}":{})", facts.sequence != 0 ? "root" : "peer", facts.peer);
    if (facts.tag != -1) fmt::format_to(out, R"(,"tag":{})", facts.tag);
    if (facts.form == flight::Form::nonblocking || facts.form == flight::Form::start)
      fmt::format_to(out, R"(,"request":{})", call.slot);
    if (call.end != 0 && facts.form != flight::Form::blocking)
      fmt::format_to(out, R"(,"took":{})", microseconds(call.end - call.begin));
    return text + (is_held ? waiting(call) : "");
  }
  [[nodiscard]] std::string waiting(const TracedCall& call) const {
    if (!call.cause) return {};
    return fmt::format(R"(,"waited":{},"waited_for":{})", microseconds(call.waited),
                       process(static_cast<std::size_t>(call.cause.part)));
  }

  void slice(const Event& event) {
    const Part& part = parts_[event.part];
    const TracedCall& call = part.calls[event.index];
    const std::int64_t length = event.what == What::start ? 0 : part.held_until(call) - call.begin;
    line(head('X', event.time, process(event.part), call.thread, name_of(call), form_name(call.facts.form)) +
         fmt::format(R"(,"dur":{},{}{}}}}})", microseconds(length), arguments(part, call, event.what == What::call),
                     blocks(part, call)));
  }

  void wait(const Event& event) {
    const Part& part = parts_[event.part];
    const TracedCall& call = part.calls[event.index];
    line(head('X', event.time, process(event.part), call.thread, "wait " + name_of(call), "wait") +
         fmt::format(R"(,"dur":{},{}}}}})", microseconds(part.held_until(call) - call.wait),
                     arguments(part, call, true)));
  }

  void async(const Event& event) {
    const TracedCall& call = parts_[event.part].calls[event.index];
    const char phase = event.what == What::async_begin ? 'b' : 'e';
    line(head(phase, event.time, process(event.part), call.thread, name_of(call), "in flight") +
         fmt::format(R"(,"id":"{}.{}"}})", process(event.part), call.slot));
  }

  /// event.index is a call that receives or waits; the arrow begins at another part.
  void arrow(const Event& event) {
    const TracedCall& call = parts_[event.part].calls[event.index];
    const bool is_message = event.what == What::message_out || event.what == What::message_in;
    const bool is_begin = event.what == What::message_out || event.what == What::wait_out;
    const Link& from = is_message ? call.message : call.cause;
    const auto other = static_cast<std::size_t>(from.part);
    const std::size_t at = is_begin ? other : event.part;
    const TracedCall& held = is_begin ? parts_[other].calls[from.call] : call;
    line(head(is_begin ? 's' : 'f', event.time, process(at), held.thread, is_message ? "message" : "waited for",
              is_message ? "message" : "wait") +
         fmt::format(R"(,"id":"{}{}.{}"{}}})", is_message ? 'm' : 'w', process(event.part), call.slot,
                     is_begin ? "" : R"(,"bp":"e")"));
  }

  std::FILE* file_;
  const std::vector<Part>& parts_;
  bool is_first_ = true;
};

/// The communicators of a job, each with the ranks in MPI_COMM_WORLD of its own ranks; -1: of a rank without a part.
std::string communicators_text(const std::vector<Part>& parts) {
  struct Known {
    std::string name{};
    std::vector<int> members{};
  };
  std::map<std::uint64_t, Known> all;
  for (const Part& part : parts)
    for (const auto& [number, one] : part.communicators) {
      if (one.mark == 0 || one.rank < 0 || one.rank >= one.size) continue;
      Known& known = all[one.mark];
      known.name = one.name;
      known.members.resize(static_cast<std::size_t>(one.size), -1);
      known.members[static_cast<std::size_t>(one.rank)] = part.header.world_rank;
    }
  std::string text;
  for (const auto& [mark, known] : all)
    text += fmt::format(R"({}{{"mark":"{:016x}","name":{},"world_ranks":[{}]}})", text.empty() ? "" : ",", mark,
                        json_text(known.name), fmt::join(known.members, ","));
  return text;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t bytes = character_at(text);
    const char c = text.front();
    if (bytes == 0)
      out += '?';
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (bytes == 1 && static_cast<unsigned char>(c) < 0x20)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    else
      out += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out + '"';
}

void write_json(std::FILE* file, const std::vector<Part>& parts, std::string_view clocks) {
  fmt::print(
      file,
      R"({{"displayTimeUnit":"ns","otherData":{{"writer":"tutti trace","clocks":{},"communicators":[{}]}},"traceEvents":[)",
      json_text(clocks), communicators_text(parts));
  std::fputs("\n", file);
  Writer writer(file, parts);
  writer.processes();
  for (const Event& event : events_of(parts)) writer.write(event);
  std::fputs("\n]}\n", file);
}

}  // namespace tutti::detail::trace
