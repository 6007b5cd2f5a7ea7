// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tutti/algorithms.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/reduce.hpp>

#include "backends/list.hpp"
#include "backends/shm/arena.hpp"
#include "simulation/contexts.hpp"
#include "simulation/peers.hpp"
#include "simulation/shared_memory.hpp"

namespace tutti::simulation {
namespace {

/// Enough that each line has its usual holders, of all cells.
constexpr int first_calls = 28;
constexpr int timed_calls = 12;

struct Data {
  std::vector<double> in;
  std::vector<double> out;
};

/// One way to make the call, on one rank.
class Way {
 public:
  Way() = default;
  virtual ~Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual void make(Data& data) = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

class Node final : public Environment {
 public:
  Node(const NodeCall& call, const Prices& prices, int ranks)
      : call_(call),
        prices_(prices),
        machine_(machine_of(prices, ranks)),
        scheduler_(1, ranks, manner),
        messages_(scheduler_, ranks, manner),
        memory_(ranks, machine_.kernel_copies),
        caches_(scheduler_, prices, ranks),
        all_(static_cast<std::size_t>(ranks)) {
    std::iota(all_.begin(), all_.end(), 0);
    scheduler_.set_environment(*this);
    scheduler_.let_sleeps_end();
    library_ = messages_.make_communicator(all_);
    caller_ = messages_.make_communicator(all_);
    if (!is_library()) peer_ = make_peer(call.way, {call.operation, call.bytes, prices, ranks});
    for (const int rank : all_) {
      if (peer_) memory_.map(rank, peer_->memory(), peer_->memory_bytes(), ~std::uint64_t{0});
      scheduler_.start(rank, [this, rank] { play(rank); });
    }
  }

  NodeTime run() {
    const std::string problem = scheduler_.run();
    if (!problem.empty()) throw std::runtime_error(problem);
    time_.nanoseconds /= timed_calls;
    for (std::size_t i = 0; i < distances; ++i) {
      time_.lines[i] = static_cast<double>(caches_.moved().lines[i] - before_.lines[i]) / timed_calls;
      time_.taken[i] = static_cast<double>(caches_.moved().taken[i] - before_.taken[i]) / timed_calls;
    }
    return time_;
  }

  bool deliver(Random& random) override { return messages_.deliver(random); }
  void disturb(Random& /*random*/) override {}
  bool loses_wake() override { return false; }
  int choose(const std::vector<int>& ready) override { return caches_.choose(ready); }

 private:
  static constexpr Manner manner{.policy = Policy::uniform, .copy_stops = 1, .delivers = 1};

  class Library;
  class Peer;

  static Machine machine_of(const Prices& prices, int ranks) {
    Machine machine;
    machine.ranks = ranks;
    machine.oversubscribed = false;
    machine.kernel_copies = false;
    machine.places = prices.places(ranks);
    return machine;
  }
  [[nodiscard]] bool is_library() const { return call_.way.starts_with("tutti"); }
  [[nodiscard]] int ranks() const { return machine_.ranks; }
  [[nodiscard]] std::size_t count() const { return call_.bytes / sizeof(double); }

  void play(int rank);
  void make_calls(int rank, Way& way);
  void fill(Data& data, int rank, int number) const;
  void check(const Data& data, int rank, int number) const;

  const NodeCall call_;
  const Prices prices_;
  const Machine machine_;
  Scheduler scheduler_;
  Messages messages_;
  SharedMemory memory_;
  Caches caches_;
  std::vector<int> all_;
  Messages::Handle library_ = 0;
  Messages::Handle caller_ = 0;
  std::unique_ptr<NodePeer> peer_{};
  Caches::Moved before_{};
  double slowest_ = 0;
  NodeTime time_{};
};

class Node::Library final : public Way {
 public:
  Library(Node& node, int rank) : call_(node.call_) {
    auto context = begin_context({node.machine_, node.all_, node.library_, node.caller_}, rank, {});
    context->costs.line = node.prices_.at(Distance::socket) * 1e-9;
    std::string report;
    context->set_state(detail::shm_backend, detail::shm_backend.create_state(*context, report), std::move(report));
    if (call_.fanout > 0)
      detail::shm::arena_of(*context).use_groups(detail::shm::Groups(context->topology.places, call_.fanout));
    comm_ = Communicator(std::move(context));
    if (call_.way.size() > 6) options_.algorithm = call_.way.substr(6);
  }
  void make(Data& data) override {
    const ConstBuffer in{data.in.data(), data.in.size(), DatatypeKind::float64};
    const Buffer out{data.out.data(), data.out.size(), DatatypeKind::float64};
    if (call_.operation == Operation::barrier)
      barrier(comm_, options_);
    else if (call_.operation == Operation::bcast)
      bcast(comm_, out, 0, options_);
    else if (call_.operation == Operation::reduce)
      reduce(comm_, in, out, ReduceKind::sum, 0, options_);
    else
      allreduce(comm_, in, out, ReduceKind::sum, options_);
  }
  [[nodiscard]] std::string name() const override {
    if (!options_.algorithm.empty()) return call_.way;
    CallFacts facts;
    facts.type = DatatypeKind::float64;
    facts.count = call_.bytes / sizeof(double);
    return "tutti:" + algorithms(comm_, operation_name(call_.operation), facts).front().name;
  }

 private:
  const NodeCall& call_;
  Communicator comm_{};
  Options options_{};
};

class Node::Peer final : public Way {
 public:
  Peer(NodePeer& peer, int rank) : peer_(peer), rank_(rank) {}
  void make(Data& data) override { peer_.make(rank_, data.in.data(), data.out.data()); }
  [[nodiscard]] std::string name() const override { return peer_.name(); }

 private:
  NodePeer& peer_;
  int rank_;
};

void Node::play(int rank) {
  try {
    std::unique_ptr<Way> way;
    if (is_library())
      way = std::make_unique<Library>(*this, rank);
    else
      way = std::make_unique<Peer>(*peer_, rank);
    if (rank == 0) time_.way = way->name();
    scheduler_.meet();
    caches_.begin();
    make_calls(rank, *way);
    scheduler_.meet();
    caches_.end();
  } catch (const std::exception& e) {
    caches_.end();
    scheduler_.fail(fmt::format("{} of {} B by {} on {} ranks: rank {}: {}", operation_name(call_.operation),
                                call_.bytes, call_.way, ranks(), rank, e.what()));
  }
}

void Node::make_calls(int rank, Way& way) {
  Data data;
  for (int number = 0; number < first_calls + timed_calls; ++number) {
    fill(data, rank, number);
    const bool is_first_timed = number == first_calls;
    if (!call_.back_to_back || number == 0 || is_first_timed) {
      caches_.leave();
      scheduler_.meet();
      if (is_first_timed) before_ = caches_.moved();
      caches_.enter();
    }
    caches_.work(prices_.call);
    way.make(data);
    check(data, rank, number);
    if (number >= first_calls) slowest_ = std::max(slowest_, caches_.since_entry());
    const bool is_last = number + 1 == first_calls + timed_calls;
    if (call_.back_to_back && !is_last) continue;
    caches_.leave();
    scheduler_.meet();
    if (rank == 0) time_.nanoseconds += std::exchange(slowest_, 0);
    scheduler_.meet();
  }
}

void Node::fill(Data& data, int rank, int number) const {
  data.in.resize(count());
  for (std::size_t i = 0; i < count(); ++i) data.in[i] = rank + static_cast<double>(i) + number;
  data.out = call_.operation == Operation::bcast && rank == 0 ? data.in : std::vector<double>(count(), -1);
}

void Node::check(const Data& data, int rank, int number) const {
  if (call_.operation == Operation::reduce && rank != 0) return;
  const double n = ranks();
  for (std::size_t i = 0; i < count(); ++i) {
    const double own = static_cast<double>(i) + number;
    const double wanted = call_.operation == Operation::bcast ? own : n * (n - 1) / 2 + n * own;
    if (data.out[i] != wanted)
      throw std::runtime_error(fmt::format("call {}, element {}: {} instead of {}", number, i, data.out[i], wanted));
  }
}

}  // namespace

NodeTime time_of(const NodeCall& call, const Prices& prices, int ranks) {
  if (ranks > prices.all_cores())
    throw std::runtime_error(fmt::format("--ranks {}: {} has {} cores", ranks, prices.name, prices.all_cores()));
  return std::make_unique<Node>(call, prices, ranks)->run();
}

}  // namespace tutti::simulation
