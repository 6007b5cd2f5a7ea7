// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/text.hpp"

#include <fmt/format.h>

#include <array>

#include "schedules/registry.hpp"

namespace tutti::schedules {

std::string to_text(const Slice& slice) {
  constexpr std::array names = {"input", "output", "scratch"};
  return fmt::format("{}[{}, {})", names[static_cast<std::size_t>(slice.buffer)], slice.offset,
                     slice.offset + slice.count);
}

std::string to_text(const Transfer& transfer) {
  const bool sends = transfer.kind == Transfer::Kind::send;
  return fmt::format("{} {} {} {}", sends ? "send" : "recv", to_text(transfer.slice), sends ? "to" : "from",
                     transfer.peer);
}

std::string to_text(const Exchange& exchange) {
  return fmt::format("{} on the node, root {}, count {}: {} to {}", operation_name(exchange.operation), exchange.root,
                     exchange.count, to_text(exchange.input), to_text(exchange.output));
}

std::string to_text(const Local& local) {
  std::string text = to_text(local.output) + " =";
  for (std::size_t i = 0; i < local.inputs.size(); ++i) text += (i == 0 ? " " : " op ") + to_text(local.inputs[i]);
  return text;
}

std::string to_text(const Schedule& schedule) {
  std::string text = fmt::format("scratch of {} elements, {} in place\n", schedule.scratch_count,
                                 schedule.alias_safe ? "right" : "not right");
  for (std::size_t i = 0; i < schedule.rounds.size(); ++i) {
    text += fmt::format("round {}\n", i);
    for (const Transfer& transfer : schedule.rounds[i].transfers) text += "  " + to_text(transfer) + "\n";
    if (schedule.rounds[i].exchange) text += "  " + to_text(*schedule.rounds[i].exchange) + "\n";
    for (const Local& local : schedule.rounds[i].locals) text += "  " + to_text(local) + "\n";
  }
  return text;
}

}  // namespace tutti::schedules
