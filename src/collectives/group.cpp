// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/point_to_point.hpp>
#include <utility>
#include <vector>

#include "collectives/transfers.hpp"

namespace tutti {

struct Group::State {
  std::shared_ptr<detail::Context> comm;
  Options options;
  std::vector<detail::PointToPoint> transfers;

  [[nodiscard]] detail::PointToPoints take() { return detail::PointToPoints(std::exchange(transfers, {})); }
};

Group::Group(const Communicator& comm, Options options)
    : state_(std::make_unique<State>(State{comm.state(), std::move(options), {}})) {}
Group::~Group() = default;
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;

Group& Group::send(ConstBuffer buffer, int dest, int tag) {
  state_->transfers.push_back(
      detail::checked_send(*state_->comm, "group send", buffer, dest, tag, state_->options.memory));
  return *this;
}

Group& Group::recv(Buffer buffer, int source, int tag) {
  state_->transfers.push_back(
      detail::checked_recv(*state_->comm, "group recv", buffer, source, tag, state_->options.memory));
  return *this;
}

Request Group::start() { return detail::start_transfers(state_->comm, "group", state_->take(), state_->options); }

void Group::run() { detail::run_transfers(state_->comm, "group", state_->take(), state_->options); }

Request Group::init() { return detail::prepare_transfers(state_->comm, "group", state_->take(), state_->options); }

}  // namespace tutti
