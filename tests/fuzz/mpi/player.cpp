// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tutti::fuzz::mpi {
namespace {

using Requests = std::vector<MPI_Request>;

int size_of(const Requests& requests) { return static_cast<int>(requests.size()); }

void wait_for_each(Requests& all) {
  for (MPI_Request& request : all) MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void wait_for_all(Requests& all) { MPI_Waitall(size_of(all), all.data(), MPI_STATUSES_IGNORE); }
void wait_for_any(Requests& all) {
  for (int index = 0; index != MPI_UNDEFINED;) MPI_Waitany(size_of(all), all.data(), &index, MPI_STATUS_IGNORE);
}
void wait_for_some(Requests& all) {
  std::vector<int> indices(all.size());
  for (int some = 0; some != MPI_UNDEFINED;)
    MPI_Waitsome(size_of(all), all.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
}
void test_each(Requests& all) {
  for (MPI_Request& request : all)
    for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
void test_all(Requests& all) {
  for (int flag = 0; flag == 0;) MPI_Testall(size_of(all), all.data(), &flag, MPI_STATUSES_IGNORE);
}
void test_any(Requests& all) {
  for (int index = 0, flag = 0; flag == 0 || index != MPI_UNDEFINED;)
    MPI_Testany(size_of(all), all.data(), &index, &flag, MPI_STATUS_IGNORE);
}
void test_some(Requests& all) {
  std::vector<int> indices(all.size());
  for (int some = 0; some != MPI_UNDEFINED;)
    MPI_Testsome(size_of(all), all.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
}
void ask_for_each(Requests& all) {
  for (const MPI_Request request : all)
    for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  wait_for_all(all);
}

constexpr std::pair<const char*, void (*)(Requests&)> ways[] = {
    {"MPI_Wait", wait_for_each},     {"MPI_Waitall", wait_for_all}, {"MPI_Waitany", wait_for_any},
    {"MPI_Waitsome", wait_for_some}, {"MPI_Test", test_each},       {"MPI_Testall", test_all},
    {"MPI_Testany", test_any},       {"MPI_Testsome", test_some},   {"MPI_Request_get_status", ask_for_each}};

}  // namespace

Player::Player(MPI_Comm world, std::function<void(std::string)> note) : world_(world), note_(std::move(note)) {
  PMPI_Comm_rank(world, &rank_);
}

void Player::note(const std::string& step) {
  note_(fmt::format("seed {}, phase {}: {}", program_->seed, phase_, step));
}

void Player::fail(const std::string& where, const std::string& problem) const {
  if (!problem.empty())
    throw std::runtime_error(fmt::format("seed {}, phase {}: {}\n  {}", program_->seed, phase_, where, problem));
}

void Player::take_part(const Phase& phase, const Selection& selection) {
  for (std::size_t i = 0; i < phase.calls.size(); ++i) {
    const auto& chosen = selection.calls;
    const bool is_chosen =
        chosen.empty() || std::find(chosen.begin(), chosen.end(), static_cast<int>(i)) != chosen.end();
    const Group& group = groups_[phase.calls[i].group];
    if (is_chosen && group.is_member()) running_.emplace_back(phase.calls[i], group, rank_);
  }
  for (std::size_t i = 0; selection.has_messages && i < phase.messages.size(); ++i) {
    const Message& message = phase.messages[i];
    if (message.to == rank_) mail_.emplace_back(message, static_cast<int>(i), false, world_);
    if (message.from == rank_) mail_.emplace_back(message, static_cast<int>(i), true, world_);
  }
  for (Running& running : running_) {
    if (running.call().form != Form::persistent) continue;
    note("making " + describe(*program_, running.call()));
    running.init();
  }
}

/// In one call, as a program may.
void Player::start_persistent_calls(int round) {
  Requests requests;
  for (Running& running : running_) {
    if (running.call().form != Form::persistent) continue;
    running.fill(round);
    requests.push_back(running.request());
  }
  note("starting all persistent calls");
  MPI_Startall(size_of(requests), requests.data());
}

/// All ranks make the other calls in one order. Persistent ones, and messages, are started in between, in an order of
/// this rank's own.
void Player::start_round(int round) {
  const bool starts_all = random_.once_in(4);
  std::vector<std::function<void()>> steps;
  const auto at_any_time = [&](auto step) {
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(random_.below(steps.size() + 1)), step);
  };
  const auto start = [this, round](Running& running) {
    note("starting " + describe(*program_, running.call()));
    running.fill(round);
    running.start();
  };
  for (Running& running : running_)
    if (running.call().form != Form::persistent) steps.push_back([&] { start(running); });
  for (Running& running : running_)
    if (running.call().form == Form::persistent && !starts_all) at_any_time([&] { start(running); });
  for (End& end : mail_) at_any_time([&end, round] { end.start(round); });
  if (starts_all) at_any_time([this, round] { start_persistent_calls(round); });
  for (const auto& step : steps) step();
}

void Player::wait_in_some_way() {
  std::vector<MPI_Request*> places;
  for (Running& running : running_) places.push_back(&running.request());
  for (End& end : mail_) places.push_back(&end.request());
  random_.shuffle(std::span(places));
  Requests requests;
  for (const MPI_Request* place : places) requests.push_back(*place);
  const auto& [name, wait] = ways[random_.below(std::size(ways))];
  note(fmt::format("in {}", name));
  wait(requests);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = requests[i];
}

void Player::wait_round(const Phase& phase) {
  if (phase.away == rank_) {
    note(fmt::format("waiting for rank {} by way {}", phase.waits, phase.how));
    receive_by(phase.how, phase.waits, world_);
  }
  wait_in_some_way();
  if (phase.away >= 0 && phase.waits == rank_) send_to(phase.away, world_);
}

void Player::look(int round) {
  for (Running& running : running_) {
    note("comparing " + describe(*program_, running.call()));
    fail(describe(*program_, running.call()), running.compare());
  }
  for (const End& end : mail_) fail("messages", end.verify(round));
}

void Player::play_phase(const Phase& phase, std::size_t number, const Selection& selection) {
  phase_ = number;
  random_ = Random(mix({program_->seed, number, static_cast<std::uint64_t>(rank_), 13}));
  take_part(phase, selection);
  for (int round = 0; round < phase.rounds; ++round) {
    start_round(round);
    wait_round(phase);
    look(round);
  }
  for (Running& running : running_) running.free();
  for (End& end : mail_) end.free();
  running_.clear();
  mail_.clear();
}

void Player::play(const Program& program, const Selection& selection) {
  program_ = &program;
  for (const GroupPlan& plan : program.groups) {
    note(fmt::format("making communicator {} ({})", groups_.size(), name(plan.kind)));
    groups_.emplace_back(plan, world_);
  }
  for (std::size_t i = 0; i < program.phases.size(); ++i)
    if (selection.phase < 0 || static_cast<std::size_t>(selection.phase) == i)
      play_phase(program.phases[i], i, selection);
  note("freeing communicators");
  groups_.clear();
}

}  // namespace tutti::fuzz::mpi
