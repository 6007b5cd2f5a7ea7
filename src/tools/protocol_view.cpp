// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "backends/shm/groups.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/pieces.hpp"
#include "backends/shm/registry.hpp"
#include "backends/shm/tree_cost.hpp"
#include "operation/shape.hpp"
#include "tools/protocol_view.hpp"
#include "tools/units.hpp"

namespace tutti::tools {
namespace {

using detail::Shape;
using detail::Signature;
using detail::shm::Protocol;
using Layer = ProtocolView::Layer;
using Move = ProtocolView::Move;
using Step = ProtocolView::Step;

/// A call as its protocols see it.
struct ShapedCall {
  const Signature& signature;
  const Shape& who;
  int size;
  std::size_t bytes;  ///< published by the busiest rank; 0: unknown before the call

  [[nodiscard]] bool gives(int rank) const {
    for (int to = 0; to < size; ++to)
      if (who.flows(rank, to)) return true;
    return false;
  }
  [[nodiscard]] bool takes(int rank) const {
    for (int from = 0; from < size; ++from)
      if (who.flows(from, rank)) return true;
    return false;
  }
  /// Whether a rank's output changes.
  [[nodiscard]] bool has_result(int rank) const { return who.combines() ? who.has_result(rank) : takes(rank); }
  [[nodiscard]] std::string amount() const {
    return bytes == 0 ? "what it gives" : bytes_text(static_cast<double>(bytes));
  }
};

template <typename Holds>
Layer layer(const ShapedCall& call, std::string name, const std::string& words, bool is_shared, Holds&& holds) {
  Layer made{std::move(name), {}, is_shared, {}};
  for (int rank = 0; rank < call.size; ++rank) made.boxes.push_back(holds(rank) ? words : "");
  return made;
}

Layer inputs(const ShapedCall& call) {
  return layer(call, "inputs", "input", false, [&](int rank) { return call.gives(rank) || call.has_result(rank); });
}

Layer outputs(const ShapedCall& call) {
  return layer(call, "outputs", "output", false, [&](int rank) { return call.has_result(rank); });
}

/// The number of chunks that slots or a ring take, in words.
std::string chunk_words(const ShapedCall& call, Protocol protocol) {
  if (detail::shm::is_streamed(protocol))
    return fmt::format("{} into its {} ring{} in chunks, as takers make room, and counts them in its flag",
                       call.amount(), protocol == Protocol::wide ? "wide" : "near",
                       protocol == Protocol::uncached ? " past the caches" : "");
  if (call.bytes == 0) return "its sizes, then chunks into its slot";
  if (call.bytes <= detail::shm::slot_bytes) return fmt::format("{} into its slot, sets its flag", call.amount());
  return fmt::format("{} into its slot in chunks of up to a page, as takers make room, and counts them in its flag",
                     call.amount());
}

ProtocolView through_segment(const ShapedCall& call, Protocol protocol) {
  const bool in_line = protocol == Protocol::line;
  const bool streams = detail::shm::is_streamed(protocol);
  ProtocolView view;
  const bool is_barrier = call.signature.operation == Operation::barrier;
  const auto gives = [&](int rank) { return call.gives(rank); };
  view.layers.push_back(is_barrier ? layer(call, "ranks", "enters", false, gives) : inputs(call));
  view.layers.push_back(layer(call, "shared segment",
                              is_barrier ? "flag"
                              : in_line  ? "flag + data"
                              : streams  ? "flag, ring"
                                         : "flag, slot",
                              true, gives));
  view.layers.push_back(is_barrier ? layer(call, "ranks", "leaves", false, gives) : outputs(call));
  Step publish;
  publish.words = is_barrier ? "publish: each rank sets its flag"
                  : in_line
                      ? fmt::format("publish: each giver stores {} in cache lines with a flag each", call.amount())
                      : "publish: each giver copies " + chunk_words(call, protocol);
  Step pull;
  pull.move = call.who.combines() ? Move::combine : Move::load;
  pull.words = is_barrier            ? "pull: each rank waits for the flags of all others"
               : call.who.combines() ? "pull: each taker waits for the flags and combines directly from the others' "
                                       "memory, in rank order"
                                     : "pull: each taker waits for the flags and copies its blocks out";
  for (int rank = 0; rank < call.size; ++rank) {
    if (call.gives(rank)) publish.arrows.emplace_back(rank, rank);
    for (int from = 0; from < call.size; ++from)
      if (call.who.flows(from, rank)) pull.arrows.emplace_back(from, rank);
  }
  view.steps = {std::move(publish), std::move(pull)};
  return view;
}

/// At each level of the groups all ranks exchange what they have combined so far.
ProtocolView along_levels(const ShapedCall& call, const detail::shm::Groups& groups) {
  const bool is_barrier = call.signature.operation == Operation::barrier;
  const auto all = [](int) { return true; };
  ProtocolView view;
  view.layers.push_back(is_barrier ? layer(call, "ranks", "enters", false, all) : inputs(call));
  for (int level = 0; level < groups.levels(); ++level) {
    if (level > 0) view.layers.push_back(layer(call, "lines", is_barrier ? "flag" : "flag + data", true, all));
    Step step;
    step.move = is_barrier ? Move::load : Move::combine;
    step.words = fmt::format(
        "level {}: each rank stores {} in lines, and waits for those of a rank of each other unit of "
        "its group{}",
        level + 1, is_barrier ? "a flag" : call.amount() + " with flags", is_barrier ? "" : ", which it combines");
    for (int rank = 0; rank < call.size; ++rank)
      for (const int from : groups.partners_of(rank, level).ranks)
        if (from != rank) step.arrows.emplace_back(from, rank);
    view.steps.push_back(std::move(step));
  }
  view.layers.push_back(is_barrier ? layer(call, "ranks", "leaves", false, all) : outputs(call));
  return view;
}

/// Contributions go up the groups of the ranks, and the result goes down.
ProtocolView along_tree(const ShapedCall& call) {
  const detail::shm::Groups exchange = detail::shm::unplaced_groups(call.size, detail::shm::most_in_exchange);
  if (detail::shm::is_exchanged(call.signature, exchange.levels())) return along_levels(call, exchange);
  const detail::shm::Groups groups = detail::shm::unplaced_groups(call.size);
  const std::string what = call.amount() + " with flags";
  Step up;
  up.move = Move::combine;
  up.words = fmt::format(
      "publish: each rank stores {} in lines; a leader waits for its group and combines, then does the same", what);
  Step down;
  down.move = Move::load;
  down.words = fmt::format("{}a leader stores {} in lines for its group, whose members do the same for theirs",
                           call.signature.operation == Operation::bcast ? "publish: " : "pull: ", what);
  for (int rank = 0; rank < call.size; ++rank) {
    const int parent = groups.place_of(rank, call.signature.root).parent;
    if (parent < 0) continue;
    up.arrows.emplace_back(rank, parent);
    down.arrows.emplace_back(parent, rank);
  }
  const auto leads = [&](int rank) { return !groups.place_of(rank, call.signature.root).children.empty(); };
  const Layer leaders = layer(call, "leaders' lines", "flag + data", true, leads);
  const Layer first = inputs(call);
  const Layer last = outputs(call);
  if (call.signature.operation == Operation::bcast) return {{first, last}, {down}};
  if (call.signature.operation == Operation::reduce) return {{first, last}, {up}};
  return {{first, leaders, last}, {up, down}};
}

/// Window by window: every rank combines its part out of the buffers of the others, who take the result from its own.
ProtocolView through_parts(const ShapedCall& call) {
  const auto all = [](int) { return true; };
  Step give;
  give.words = fmt::format(
      "publish: window by window, each rank copies the parts that others combine of {} into its buffer", call.amount());
  Step combine;
  combine.move = Move::combine;
  combine.words = "each rank combines its part of the window, in rank order, into its buffer";
  Step take;
  take.move = Move::load;
  take.words = "pull: who needs the result copies the parts out of all buffers, while the next window is combined";
  for (int rank = 0; rank < call.size; ++rank) {
    give.arrows.emplace_back(rank, rank);
    for (int worker = 0; worker < call.size; ++worker) {
      combine.arrows.emplace_back(rank, worker);
      if (call.who.has_result(rank)) take.arrows.emplace_back(worker, rank);
    }
  }
  return {{inputs(call), layer(call, "buffers", "parts for others", true, all),
           layer(call, "buffers", "result", true, all), outputs(call)},
          {give, combine, take}};
}

/// A short call: each rank reads all inputs and combines them for itself.
ProtocolView combined_by_each(const ShapedCall& call) {
  ProtocolView view;
  view.layers = {inputs(call), outputs(call)};
  Step read;
  read.move = Move::read;
  read.words = "publish addresses; each rank reads every input from the other processes and combines all of them";
  for (int reader = 0; reader < call.size; ++reader)
    for (int rank = 0; rank < call.size; ++rank) read.arrows.emplace_back(rank, reader);
  view.steps = {std::move(read)};
  return view;
}

/// Every rank combines a share of the result and hands it to whoever needs it.
ProtocolView combined_by_single_copy(const ShapedCall& call) {
  if (detail::shm::is_made_by_each(call.signature, call.size, false)) return combined_by_each(call);
  ProtocolView view;
  view.layers.push_back(inputs(call));
  Layer shares{"shares of the work", {}, false, "worked on by this rank, then by any idle rank"};
  for (int rank = 0; rank < call.size; ++rank) shares.boxes.push_back(fmt::format("share {}", rank));
  view.layers.push_back(std::move(shares));
  view.layers.push_back(outputs(call));
  Step read;
  read.move = Move::read;
  read.words = "publish addresses; each rank reads its share of every input from the other processes and combines it";
  Step write;
  write.move = Move::write;
  write.words =
      "write the combined share into the output of every rank that needs it; idle ranks take pieces of other shares";
  for (int worker = 0; worker < call.size; ++worker)
    for (int rank = 0; rank < call.size; ++rank) {
      read.arrows.emplace_back(rank, worker);
      const bool own_only = call.who.is_split();
      if (call.who.has_result(rank) && (!own_only || rank == worker)) write.arrows.emplace_back(worker, rank);
    }
  view.steps = {std::move(read), std::move(write)};
  return view;
}

ProtocolView moved_by_single_copy(const ShapedCall& call) {
  ProtocolView view;
  view.layers = {inputs(call), outputs(call)};
  Step read;
  read.move = Move::read;
  read.words = fmt::format(
      "publish addresses; takers read {} directly from the givers' memory in pieces, and givers write "
      "what is left",
      call.bytes == 0 ? "the blocks" : call.amount());
  for (int to = 0; to < call.size; ++to)
    for (int from = 0; from < call.size; ++from)
      if (call.who.flows(from, to)) read.arrows.emplace_back(from, to);
  view.steps = {std::move(read)};
  return view;
}

}  // namespace

ProtocolView protocol_view(Protocol protocol, const Signature& signature, int size) {
  const detail::Binding binding;
  const Shape who(signature, binding, 0, size);
  const ShapedCall call{signature, who, size, detail::shm::published_bytes(signature, size)};
  if (protocol == Protocol::single_copy)
    return who.combines() ? combined_by_single_copy(call) : moved_by_single_copy(call);
  if (protocol == Protocol::tree) return along_tree(call);
  if (protocol == Protocol::parts) return through_parts(call);
  return through_segment(call, protocol);
}

std::string protocol_text(const ProtocolView& view) {
  std::string text;
  for (std::size_t i = 0; i < view.steps.size(); ++i) text += fmt::format("  {}. {}\n", i + 1, view.steps[i].words);
  return text;
}

}  // namespace tutti::tools
