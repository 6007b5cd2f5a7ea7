// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/player.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace tutti::fuzz {
namespace {

constexpr int message_tag = 77;

}  // namespace

void Player::note(const std::string& step) {
  world_.note(fmt::format("seed {}, phase {}: {}", program_->seed, phase_number_, step));
}

void Player::make_members(const Program& program) {
  members_.clear();
  for (std::size_t i = 0; i < program.groups.size(); ++i) {
    note(fmt::format("making communicator {} of {} ranks", i, program.groups[i].ranks.size()));
    members_.push_back(world_.make_member(program, i));
  }
}

void Player::verify(Running& running) {
  const std::string problem = running.verify();
  if (!problem.empty())
    throw WrongResult(fmt::format("{}\n  wrong on rank {} of the communicator: {}", describe(*program_, running.call()),
                                  members_[running.call().group].rank, problem));
}

/// All ranks make the other calls in one order; persistent ones are started in between, in an order of this rank's own.
void Player::start_round(int round) {
  std::vector<Running*> order;
  for (Running& running : running_)
    if (running.call().form != CallForm::persistent && round == 0) order.push_back(&running);
  for (Running& running : running_)
    if (running.call().form == CallForm::persistent)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(random_.below(order.size() + 1)), &running);
  for (Running* running : order) {
    if (random_.once_in(12)) usleep(static_cast<useconds_t>(random_.below(300)));
    note("starting " + describe(*program_, running->call()));
    running->start(round);
    if (running->call().form == CallForm::blocking)
      verify(*running);
    else
      active_.push_back(running);
  }
}

void Player::wait_in_some_way(std::vector<Running*>& active) {
  const int way = random_.below(4);
  std::string calls;
  for (Running* running : active) calls += "\n    " + describe(*program_, running->call());
  note(fmt::format("waiting by way {} for{}", way, calls));
  if (way < 2) {
    for (Running* running : active) {
      if (way == 0) running->request().wait();
      while (!running->request().test()) std::this_thread::yield();
    }
    return;
  }
  std::vector<Request> requests;
  for (Running* running : active) requests.push_back(std::move(running->request()));
  if (way == 2)
    wait_all(requests);
  else
    while (wait_any(requests)) {
    }
  for (std::size_t i = 0; i < active.size(); ++i) active[i]->request() = std::move(requests[i]);
}

void Player::wait_round() {
  random_.shuffle(std::span(active_));
  const int rank = world_.all().rank();
  if (phase_->away == rank) {
    note(fmt::format("in MPI_Recv from rank {}", phase_->waits));
    MPI_Recv(message_.data(), static_cast<int>(message_.size()), MPI_CHAR, phase_->waits, message_tag,
             world_.all().mpi_handle(), MPI_STATUS_IGNORE);
  }
  wait_in_some_way(active_);
  if (phase_->away >= 0 && phase_->waits == rank) {
    note(fmt::format("in MPI_Send to rank {}", phase_->away));
    MPI_Send(message_.data(), static_cast<int>(message_.size()), MPI_CHAR, phase_->away, message_tag,
             world_.all().mpi_handle());
  }
  for (Running* running : active_) verify(*running);
  active_.clear();
}

void Player::play_phase(std::size_t number, const Selection& selection) {
  phase_ = &program_->phases[number];
  phase_number_ = number;
  random_ = Random(mix({program_->seed, number, static_cast<std::uint64_t>(world_.all().rank()), 3}));
  for (std::size_t i = 0; i < phase_->calls.size(); ++i) {
    const bool is_chosen =
        selection.calls.empty() || std::count(selection.calls.begin(), selection.calls.end(), static_cast<int>(i)) > 0;
    Member& member = members_[phase_->calls[i].group];
    if (is_chosen && member.comm.valid()) running_.emplace_back(phase_->calls[i], member, setting_);
  }
  note("making persistent calls");
  for (Running& running : running_)
    if (running.call().form == CallForm::persistent) running.init();
  message_.assign(phase_->with_large_send ? std::size_t{1} << 20U : 4, 'x');
  for (int round = 0; round < phase_->rounds; ++round) {
    // What a rank may start while it is away is counted from the slowest rank.
    note("barrier before the round");
    if (phase_->away >= 0) barrier(world_.all());
    start_round(round);
    wait_round();
  }
  running_.clear();
  for (Member& member : members_) member.used = 0;
}

void Player::play(const Program& program, const Selection& selection) {
  program_ = &program;
  make_members(program);
  for (std::size_t number = 0; number < program.phases.size(); ++number)
    if (selection.has(number)) try {
        play_phase(number, selection);
      } catch (const Error& e) {
        throw Error(e.code(), fmt::format("phase {}: {}", number, e.what()));
      } catch (const WrongResult& e) {
        throw WrongResult(fmt::format("phase {}: {}", number, e.what()));
      }
  note("freeing communicators");
  // Memory that other ranks read directly is freed when all have finished.
  barrier(world_.all());
  members_.clear();
}

std::string Player::verify_surroundings() const {
  for (const Running& running : running_)
    if (std::string problem = running.verify_surroundings(); !problem.empty())
      return describe(*program_, running.call()) + "\n  " + problem;
  return "";
}

}  // namespace tutti::fuzz
