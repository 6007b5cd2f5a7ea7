// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/device_squares.hpp"

#include <algorithm>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/kernels/device.hpp>

namespace tutti::detail {

DeviceSquares::DeviceSquares(const Communicator& comm, const CollectionFacts& facts)
    : comm_(&comm), facts_(&facts), places_(facts.pieces().size(), 0) {
  for (int r = 0; r < facts.ranks; ++r) routes_.push_back(square_routes(facts, r));
}

DeviceSquares::Layout DeviceSquares::layout(const DeviceLookups& lookups) const {
  const auto ranks = static_cast<std::size_t>(facts_->ranks);
  Layout found;
  for (Messages* messages : {&found.sent, &found.arrived}) {
    messages->counts.assign(ranks, 0);
    messages->begins.assign(ranks, 0);
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (const SquareRoute& route : routes_[r])
      if (route.sender.rank == facts_->rank) found.sent.counts[r] += lookups.all_indices(route.sender.index);
  for (const SquareRoute& route : routes_[static_cast<std::size_t>(facts_->rank)])
    found.arrived.counts[static_cast<std::size_t>(route.sender.rank)] += lookups.all_indices(route.receiver_piece);
  for (Messages* messages : {&found.sent, &found.arrived})
    for (std::size_t r = 0; r < ranks; ++r) {
      messages->begins[r] = messages->total;
      messages->total += messages->counts[r];
    }
  return found;
}

bool DeviceSquares::has_squares(std::size_t i) const {
  const Piece& piece = facts_->pieces()[i];
  return !piece.replica && facts_->shares_squares(piece.shard.table);
}

void DeviceSquares::prepare(const DeviceLookups& lookups, std::size_t batch) {
  if (batch == 0) return;
  std::size_t own = 0;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (has_squares(i)) own += lookups.all_indices(i);
  const Layout needed = layout(lookups);
  const std::size_t sent = needed.sent.total;
  const std::size_t arrived = needed.arrived.total;
  if (own <= most_own_ && sent <= most_sent_ && arrived <= most_arrived_) return;
  services::wait_for_stream(facts_->device, facts_->stream());
  block_.reset();
  // An eighth more, as for the lookups.
  most_own_ = own + own / 8;
  most_sent_ = sent + sent / 8;
  most_arrived_ = arrived + arrived / 8;
  const std::size_t bytes = (most_own_ + most_sent_ + most_arrived_) * sizeof(double);
  block_ = device::Pool::of(MemoryKind::device, facts_->device).acquire(bytes);
  device::required_runtime("sums of squares on a device").fill_zero(block_.data(), bytes, facts_->stream());
  ++generation_;
}

void DeviceSquares::arrange(const DeviceLookups& lookups) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i] = next;
    if (has_squares(i)) next += lookups.all_indices(i);
  }
}

double* DeviceSquares::of(std::size_t i) const {
  if (!has_squares(i)) return nullptr;
  return reinterpret_cast<double*>(block_.data()) + places_[i];
}

/// Copies the sums of this rank's pieces to where they are sent from.
void DeviceSquares::send(const DeviceLookups& lookups) {
  auto& runtime = device::required_runtime("sums of squares on a device");
  double* to = sent();
  for (const auto& routes : routes_)
    for (const SquareRoute& route : routes) {
      if (route.sender.rank != facts_->rank) continue;
      const std::size_t count = lookups.all_indices(route.sender.index);
      if (count > 0) runtime.copy(to, of(route.sender.index), count * sizeof(double), facts_->stream());
      to += count;
    }
}

/// Adds in the order of the columns, which is that of the routes.
void DeviceSquares::add(const DeviceLookups& lookups, Messages& messages) {
  constexpr std::size_t most_inputs = 40;
  const auto& routes = routes_[static_cast<std::size_t>(facts_->rank)];
  std::vector<const void*> inputs;
  for (auto route = routes.begin(); route != routes.end(); ++route) {
    const std::size_t piece = route->receiver_piece;
    const std::size_t count = lookups.all_indices(piece);
    std::size_t& at = messages.begins[static_cast<std::size_t>(route->sender.rank)];
    inputs.push_back(arrived() + at);
    at += count;
    const bool is_last = route + 1 == routes.end() || (route + 1)->receiver_piece != piece;
    if (!is_last && inputs.size() < most_inputs) continue;
    kernels::device::combine(DatatypeKind::float64, sum, inputs, of(piece), count, facts_->options.stream);
    inputs.assign(is_last ? 0 : 1, of(piece));
  }
}

void DeviceSquares::exchange(const DeviceLookups& lookups) {
  Layout messages = layout(lookups);
  send(lookups);
  const auto& [out, in] = messages;
  alltoallv(*comm_, ConstBuffer(sent(), out.total), out.counts, out.begins, Buffer(arrived(), in.total), in.counts,
            in.begins, {.stream = facts_->options.stream, .memory = facts_->options.memory});
  add(lookups, messages.arrived);
}

}  // namespace tutti::detail
