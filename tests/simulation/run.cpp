// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/list.hpp"
#include "call/agreement.hpp"
#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/cost_model.hpp"
#include "simulation/contexts.hpp"
#include "simulation/faults.hpp"

namespace tutti::simulation {
namespace {

/// After it calls fail that a dead rank does not make, in time of the simulation.
constexpr std::chrono::milliseconds timeout{1};

/// Bytes of the last call of a communicator.
constexpr std::size_t most_left = 2048;

}  // namespace

/// The world of one rank's program.
class Run::Rank final : public fuzz::World {
 public:
  Rank(Run& run, int number) : run_(run), number_(number), all_(make(0)) {}
  ~Rank() override {
    run_.memory_.forget(number_);
    // The others need not come to the same end.
    for (auto& context : contexts_)
      if (run_.failed_ > 0) context->abort("a rank has failed");
  }

  [[nodiscard]] const Communicator& all() const override { return all_; }

  [[nodiscard]] fuzz::Member make_member(const fuzz::Program& program, std::size_t group) override {
    const auto& ranks = program.groups[group].ranks;
    fuzz::Member member;
    member.size = ranks.size();
    member.reproducible = program.groups[group].reproducible;
    const auto at = std::find(ranks.begin(), ranks.end(), number_);
    if (at == ranks.end()) return member;
    member.rank = static_cast<std::size_t>(at - ranks.begin());
    // All ranks' communicator is one of those that follow one another in the same memory, too.
    member.comm = group == 0 && !run_.weak_ ? Communicator(all_.state()) : make(group);
    return member;
  }

  /// Ends the communicators of a program, so that those of the next have their memory. Each is left behind a call that
  /// its root leaves early.
  void end_program() {
    if (run_.plays_ == 1) return;
    std::vector<std::byte> data(most_left);
    Options options;
    options.algorithm = "shm:slots";
    for (std::size_t i = 1; i < contexts_.size(); ++i) {
      if (contexts_[i]->state_of(detail::shm_backend) == nullptr) continue;
      bcast(Communicator(contexts_[i]), Buffer{data.data(), data.size(), DatatypeKind::uint8}, 0, options);
    }
    contexts_.resize(1);
  }

  void note(std::string step) override { run_.scheduler_.note(std::move(step)); }

 private:
  /// Kept to the end of the run, because planted faults write into their memory.
  [[nodiscard]] Communicator make(std::size_t group) {
    contexts_.push_back(run_.make_context(number_, group, commons_[group]));
    return Communicator(contexts_.back());
  }

  Run& run_;
  int number_;
  std::map<std::size_t, std::shared_ptr<detail::Commons>> commons_;  ///< by group
  std::vector<std::shared_ptr<detail::Context>> contexts_;
  Communicator all_;
};

Run::Run(std::uint64_t seed, const Wishes& wishes)
    : seed_(seed),
      wishes_(wishes),
      random_(mix({seed, 7})),
      machine_(draw_machine(random_, wishes)),
      manner_(draw_manner(random_, wishes)),
      setting_(wishes.setting),
      program_(draw_program(seed, random_, machine_, manner_, setting_)),
      scheduler_(seed, machine_.ranks, manner_),
      messages_(scheduler_, machine_.ranks, manner_),
      memory_(machine_.ranks, machine_.kernel_copies),
      yields_before_(std::exchange(detail::Backoff::yields, manner_.yields)),
      wakes_left_(random_.below(30)) {
  if (wishes.weak) weak_.emplace(scheduler_, machine_.ranks);
  // A rank that has failed makes no other communicator.
  if (wishes.weak && !manner_.dies) plays_ = random_.once_in(4) ? 3 : 2;
  scheduler_.set_environment(*this);
  scheduler_.set_printing(wishes.prints);
  for (const fuzz::Group& group : program_.groups) {
    handles_.push_back(messages_.make_communicator(group.ranks));
    users_.push_back(messages_.make_communicator(group.ranks));
  }
}

Run::~Run() { detail::Backoff::yields = yields_before_; }

std::string Run::play() {
  if (wishes_.prints) fmt::print("seed {}: {}\n", seed_, describe(machine_, manner_));
  // Nobody wakes ranks that have a core of their own.
  if (!machine_.oversubscribed) scheduler_.let_sleeps_end();
  for (int rank = 0; rank < machine_.ranks; ++rank) scheduler_.start(rank, [this, rank] { play_rank(rank); });
  std::string problem = scheduler_.run();
  if (problem.empty() && wishes_.fault == Fault::none && failed_ == 0 && !messages_.is_empty())
    problem = "a request of MPI was left";
  return problem.empty() ? problem : fmt::format("{}\n  {}", problem, describe(machine_, manner_));
}

void Run::play_rank(int number) {
  Rank rank(*this, number);
  fuzz::Player player(setting_, rank);
  play_program(rank, player);
  // Ranks that are late may still read and write the buffers of a call that has failed.
  scheduler_.meet();
  if (weak_) weak_->meet();
  if (const std::string problem = player.verify_surroundings(); !problem.empty())
    scheduler_.fail(fmt::format("rank {}: {}", number, problem));
}

void Run::play_program(Rank& rank, fuzz::Player& player) {
  std::string problem;
  try {
    scheduler_.may_die();
    for (int left = plays_; left > 0; --left) {
      player.play(program_, {});
      rank.end_program();
    }
  } catch (const fuzz::WrongResult& e) {
    problem = e.what();
  } catch (const Error& e) {
    ++failed_;
    // Its program is over: who waits for it in a communicator that has not failed is woken by nobody, and ends by the
    // timeout.
    scheduler_.let_sleeps_end();
    rank.note(fmt::format("failed: {}", e.what()));
    if (!manner_.dies) problem = fmt::format("an error ({}): {}", error_string(e.code()), e.what());
  }
  if (!problem.empty()) scheduler_.fail(fmt::format("rank {}: {}", rank.all().rank(), problem));
}

std::shared_ptr<detail::Context> Run::make_context(int rank, std::size_t group,
                                                   std::shared_ptr<detail::Commons>& commons) {
  const std::vector<int>& ranks = program_.groups[group].ranks;
  CommunicatorOptions options;
  options.reproducible = program_.groups[group].reproducible;
  options.name = fmt::format("group {}", group);
  if (manner_.dies) options.timeout = timeout;
  auto context = begin_context({machine_, ranks, handles_[group], users_[group]}, rank, options);
  if (machine_.shared_memory && context->topology.nodes == 1) {
    std::string report;
    context->commons = commons;
    if (commons) take_lot(*context);
    auto state = detail::shm_backend.create_state(*context, report);
    auto* arena = static_cast<detail::shm::Arena*>(state.get());
    if (arena != nullptr) memory_.add(rank, *arena);
    context->set_state(detail::shm_backend, std::move(state), std::move(report));
    if (weak_) commons = context->commons;
  }
  if (wishes_.fault == Fault::decision && rank == 0) spoil_decisions(*context);
  if (detail::sends_from_the_start(context->machine())) context->make_messages();
  return context;
}

/// Memory that earlier communicators of the same ranks have left.
void Run::take_lot(detail::Context& context) {
  const std::uint64_t offer = context.rank == 0 ? context.commons->set_aside() : 0;
  const std::uint64_t lot =
      detail::all_gather(context.point_to_point, static_cast<std::size_t>(context.size), offer)[0];
  if (lot != 0) context.lot = detail::Lot(context.commons, lot, context.rank);
}

void Run::disturb(Random& random) {
  if (wishes_.fault == Fault::none || !random.once_in(32)) return;
  if (wishes_.fault == Fault::swap) messages_.swap_once();
  const auto arenas = memory_.arenas(random.below(machine_.ranks));
  if (arenas.empty()) return;
  spoil_word(wishes_.fault, *arenas[random.below(arenas.size())], random);
}

bool Run::loses_wake() { return wishes_.fault == Fault::wake && wakes_left_-- == 0; }

}  // namespace tutti::simulation
