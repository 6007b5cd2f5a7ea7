// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/factory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <span>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "backends/list.hpp"
#include "backends/prepare_device.hpp"
#include "call/agreement.hpp"
#include "call/check.hpp"
#include "call/known_calls.hpp"
#include "call/late_communicator.hpp"
#include "call/progress.hpp"
#include "communicator/group.hpp"
#include "communicator/kin.hpp"
#include "communicator/steps.hpp"
#include "core/config.hpp"
#include "core/hash.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"
#include "core/network.hpp"
#include "core/progress_hook.hpp"
#include "core/variables.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/trace/world.hpp"
#include "diagnosis/watchdog.hpp"
#include "planner/calibration.hpp"
#include "planner/files.hpp"
#include "planner/overrides.hpp"
#include "planner/planner.hpp"
#include "topology/discover.hpp"

namespace tutti::detail {
namespace {

bool has_thread_multiple() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// What rank 0 offers to a new communicator, if its ranks are those that it takes them for.
struct LotOffer {
  KinName kin;
  std::uint64_t lot;  ///< 0: none
};

/// A setting that must be equal on all ranks, and the words for it.
struct EqualSetting {
  std::int64_t (*value)(const Context& state);
  const char* words;
};
constexpr std::array equal_settings{
    EqualSetting{[](const Context&) -> std::int64_t {
                   return (TUTTI_VERSION_MAJOR * 1000 + TUTTI_VERSION_MINOR) * 1000 + TUTTI_VERSION_PATCH;
                 },
                 "the version of the library"},
    EqualSetting{[](const Context& state) -> std::int64_t {
                   return std::int64_t{state.options.reproducible} + 2 * std::int64_t{config().exact};
                 },
                 "the option reproducible (or TUTTI_REPRODUCIBLE)"},
    EqualSetting{[](const Context& state) -> std::int64_t { return state.options.native_blocking; },
                 "the option native_blocking"},
    EqualSetting{[](const Context& state) { return static_cast<std::int64_t>(state.options.check); },
                 "the option check (or TUTTI_CHECK)"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().progress_thread; }, "TUTTI_PROGRESS_THREAD"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().progress_hook; }, "TUTTI_PROGRESS_HOOK"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().shared_memory; }, "TUTTI_SHM"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().single_copy; }, "TUTTI_SINGLE_COPY"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().trials; }, "TUTTI_TRIALS"},
    EqualSetting{[](const Context&) { return static_cast<std::int64_t>(config().calibration); }, "TUTTI_CALIBRATION"},
    EqualSetting{[](const Context& state) -> std::int64_t { return state.options.timeout.count(); },
                 "the timeout (or TUTTI_TIMEOUT)"},
    EqualSetting{[](const Context&) -> std::int64_t { return config().heartbeat.count(); }, "TUTTI_HEARTBEAT"},
    EqualSetting{[](const Context&) { return static_cast<std::int64_t>(tuning::overrides_hash()); }, "TUTTI_ALGORITHM"},
};

/// What each rank tells the others of itself when they make a communicator, as plain bytes.
struct Agreement {
  std::array<std::int64_t, equal_settings.size()> settings;
  int lacks_threads;  ///< a progress thread is wanted, but MPI lacks MPI_THREAD_MULTIPLE
  ReductionFaults reduction_faults;
  int has_hook;        ///< its MPI takes a function into its progress
  int late;            ///< communicators that were made late
  std::uint64_t mark;  ///< of the new communicator; rank 0's counts
  ProcessIdentity process;
  KinNames known;
  std::array<std::uint64_t, most_kin> left;  ///< digests of the trials that are left to each
  LotOffer offer;                            ///< of rank 0
  std::array<bool, most_kin> is_stale;       ///< of rank 0
  int recorder;                              ///< the descriptor of its memory; -1: none
  int watchdog;                              ///< 1: it has one
  Network network;
  int wants_to_meet;  ///< it is traced, and this may be the first communicator of the whole world
};

/// What the ranks agree on, beside the facts that are equal.
struct Meeting {
  std::uint64_t mark = 0;
  KinName kin{};                     ///< of what these processes know of themselves
  bool has_room = false;             ///< contexts are left for a handle that may never be used
  std::shared_ptr<const Kin> known;  ///< null: not all of them know it any more, or yet
  Heritage::Left left{};             ///< the same on all of them, or nothing
  std::uint64_t lot = 0;             ///< of their commons; 0: none
  bool is_stale = false;             ///< what they have measured must be found out again
  bool traces = false;               ///< the ranks of a trace meet here
};

/// On rank 0: what it offers to a new communicator, taken back at the end unless all ranks accept.
class Offering {
 public:
  Offering() = default;
  explicit Offering(const KnownKin& known, const std::vector<int>& members) {
    for (std::size_t i = 0; i < most_kin && !members.empty(); ++i) {
      const Kin* kin = known.kin[i].get();
      if (kin == nullptr || kin->members != members || !kin->commons) continue;
      commons_ = kin->commons;
      offer = {known.names[i], commons_->set_aside()};
      return;
    }
  }
  ~Offering() {
    if (commons_ && offer.lot != 0) commons_->put_back(offer.lot);
  }
  Offering(const Offering&) = delete;
  Offering& operator=(const Offering&) = delete;
  void accept() noexcept { commons_.reset(); }
  LotOffer offer{};

 private:
  std::shared_ptr<Commons> commons_{};
};

/// Few enough that thousands of communicators remain possible.
constexpr int most_early_handles = 64;

std::size_t place_of(const KinNames& names, const KinName& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The ranks may have ended other communicators meanwhile, in other threads; then all begin anew. All know the name.
Heritage::Left left_to_all(std::span<const Agreement> all, const KnownKin& known, const KinName& name) {
  const std::size_t place = place_of(known.names, name);
  const Heritage::Left mine = known.left[place];
  const bool is_same = std::all_of(
      all.begin(), all.end(), [&](const Agreement& one) { return one.left[place_of(one.known, name)] == mine.digest; });
  if (!is_same) known.kin[place]->heritage->forget();
  return is_same ? mine : Heritage::Left{};
}

/// A rank may evict what others still keep, so all must have it.
Meeting meet(std::span<const Agreement> all, const KnownKin& known) {
  std::vector<std::uint64_t> processes(all.size());
  std::transform(all.begin(), all.end(), processes.begin(), [](const Agreement& one) { return one.process.number; });
  Meeting meeting{all[0].mark, {kin_name(processes), all[0].mark}, true, nullptr};
  const auto& first = all[0].known;
  const auto same =
      std::find_if(first.begin(), first.end(), [&](const KinName& one) { return one.name == meeting.kin.name; });
  for (const Agreement& one : all) meeting.has_room = meeting.has_room && one.late < most_early_handles;
  const bool all_know = same != first.end() && std::all_of(all.begin(), all.end(), [&](const Agreement& one) {
                          return std::find(one.known.begin(), one.known.end(), *same) != one.known.end();
                        });
  if (all_know) meeting.known = known.find(*same);
  if (all_know) meeting.left = left_to_all(all, known, *same);
  meeting.is_stale = all_know && all[0].is_stale[static_cast<std::size_t>(same - first.begin())];
  if (all_know && all[0].offer.kin == *same) meeting.lot = all[0].offer.lot;
  meeting.traces = std::all_of(all.begin(), all.end(), [](const Agreement& one) { return one.wants_to_meet != 0; });
  return meeting;
}

/// Another number for each communicator that this process makes.
std::uint64_t next_mark() {
  static std::atomic<std::uint64_t> made{std::uint64_t{std::random_device{}()} << 32U};
  return made.fetch_add(1);
}

bool spans_world(int size) {
  int whole = 0;
  if (!world_is_usable() || MPI_Comm_size(MPI_COMM_WORLD, &whole) != MPI_SUCCESS) return false;
  return size == whole;
}

const Network& own_network() {
  static const Network network = find_network();
  return network;
}

int recorder_descriptor() {
  const flight::Recorder* recorder = flight::Recorder::instance();
  return recorder == nullptr ? -1 : recorder->descriptor();
}

/// The memory of each rank's recorder is also held by the next rank of its node.
void keep_next_recorder(std::span<const Agreement> all, int rank) {
  flight::Recorder* recorder = flight::Recorder::instance();
  if (recorder == nullptr) return;
  const std::size_t size = all.size();
  const ProcessIdentity& mine = all[static_cast<std::size_t>(rank)].process;
  for (std::size_t i = 1; i < size; ++i) {
    const Agreement& next = all[(static_cast<std::size_t>(rank) + i) % size];
    if (mine.sees(next.process)) return recorder->keep(next.process.process, next.recorder);
  }
}

void watch_peers(Context& state, MPI_Comm from, std::span<const Agreement> all) {
  std::vector<ProcessIdentity> processes(all.size());
  std::transform(all.begin(), all.end(), processes.begin(), [](const Agreement& one) { return one.process; });
  const bool asks = std::any_of(all.begin(), all.end(), [](const Agreement& one) { return one.watchdog != 0; });
  const bool is_told = meet_out_of_band(from, state.rank, processes, {config().heartbeat.count() > 0, asks});
  state.peers.watch(processes, state.rank, is_told);
  if (state.rank == 0 && !state.peers.watches_all())
    log_once(
        "the end of ranks on other nodes or in other PID namespaces is not seen; set TUTTI_HEARTBEAT, or a timeout for "
        "calls with them");
}

/// Where one rank has no hook, no operation may rely on it.
void use_hook(Context& state, std::span<const Agreement> all) {
  const auto lacks = std::ranges::find(all, 0, &Agreement::has_hook);
  state.progress_hook = config().progress_hook && lacks == all.end();
  state.progress_report = progress_hook::find().text;
  if (!config().progress_hook)
    state.progress_report = "switched off by TUTTI_PROGRESS_HOOK=0";
  else if (!state.progress_hook && progress_hook::find().is_usable)
    state.progress_report = fmt::format("the MPI of rank {} has no hook", lacks - all.begin());
}

/// What each rank tells the others when a communicator is split.
struct Sibling {
  int late;            ///< communicators that were made late
  std::uint64_t mark;  ///< of the part in which the rank is the first
};

void require_equal_settings(std::span<const Agreement> all) {
  for (std::size_t r = 1; r < all.size(); ++r) {
    const auto [first, other] = std::ranges::mismatch(all[0].settings, all[r].settings);
    if (first == all[0].settings.end()) continue;
    const auto which = static_cast<std::size_t>(first - all[0].settings.begin());
    throw Error(ErrorCode::mismatch,
                fmt::format("ranks 0 and {} of the new communicator differ in {}; make it equal on all ranks", r,
                            equal_settings[which].words));
  }
}

/// Over the caller's handle, whose ranks are all there afterwards.
Meeting check_agreement(Context& state, MPI_Comm from, const std::vector<int>& members) {
  const KnownKin known = known_kin(state.rank == 0);
  Offering offering(known, members);
  Agreement mine{};
  std::ranges::transform(equal_settings, mine.settings.begin(),
                         [&](const EqualSetting& setting) { return setting.value(state); });
  mine.lacks_threads = config().progress_thread && !has_thread_multiple() ? 1 : 0;
  mine.reduction_faults = own_reduction_faults();
  mine.has_hook = progress_hook::find().is_usable ? 1 : 0;
  mine.late = late_communicators();
  mine.mark = next_mark();
  mine.process = own_identity(process_number());
  mine.known = known.names;
  std::ranges::transform(known.left, mine.left.begin(), &Heritage::Left::digest);
  mine.offer = offering.offer;
  mine.is_stale = known.is_stale;
  mine.recorder = recorder_descriptor();
  mine.watchdog = config().watchdog.count() > 0 ? 1 : 0;
  mine.network = own_network();
  mine.wants_to_meet = spans_world(state.size) && trace::wants_to_meet() ? 1 : 0;
  const std::vector<Agreement> all = all_gather(from, static_cast<std::size_t>(state.size), mine);
  for (int r = 0; r < state.size; ++r)
    if (all[static_cast<std::size_t>(r)].lacks_threads != 0)
      throw Error(
          ErrorCode::not_supported,
          fmt::format("TUTTI_PROGRESS_THREAD=1 needs MPI_THREAD_MULTIPLE, which rank {} of the new communicator has "
                      "not; initialise MPI with it, or leave the variable unset",
                      r));
  require_equal_settings(all);
  keep_next_recorder(all, state.rank);
  state.network = all[0].network;
  for (const Agreement& one : all) {
    state.reduction_faults.add(one.reduction_faults);
    state.network = slower(state.network, one.network);
  }
  use_hook(state, all);
  watch_peers(state, from, all);
  // Checked only now, when all ranks read the same text, so that all of them find the same error.
  (void)tuning::override_for(Operation::barrier);
  Meeting meeting = meet(all, known);
  if (meeting.lot != 0) offering.accept();
  return meeting;
}

void begin_check(Context& context) {
  if (context.options.check == CheckMode::off) return;
  context.check = std::make_unique<Check>(context, context.options.check == CheckMode::bytes);
}

void use_kin(Context& context, const Kin& kin) {
  use_topology(context, kin.topology);
  context.costs = kin.costs;
  context.costs_report = kin.costs_report;
  use_measured(context, kin.measured, kin.measured_report);
}

/// Plans of neighborhood collectives depend on the communicator's own topology.
void share_trials(Context& context, const std::shared_ptr<Heritage>& heritage, const Heritage::Left& left) {
  if (context.neighbors) return;
  context.known->heritage = heritage;
  if (left.trials && left.facts == facts_of_ways(context.machine())) context.trials.inherit(left.trials);
}

void discover(Context& context) {
  use_topology(context, discover_topology(context.point_to_point));
  load_measurements(context);
}

flight::Note noted_factory() {
  flight::Recorder* recorder = flight::Recorder::instance();
  if (recorder == nullptr) return {};
  const flight::Facts facts{.communicator = flight::communicator_rows - 1, .call = flight::Call::make_communicator};
  return {recorder, recorder->begin(facts, flight::State::running)};
}

void record_in_flight(Context& context) {
  const std::uint64_t mark = mix_bits(context.mark);  // the mark itself is a secret of its ranks
  if (config().watchdog.count() > 0) flight::start_watchdog(config().watchdog, config().watchdog_aborts);
  context.flight.open(mark, context.rank, context.size, context.options.name);
  flight::Recorder* recorder = context.flight.recorder();
  if (recorder == nullptr || !world_is_usable()) return;
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  recorder->introduce(mark, rank, size);
}

}  // namespace

std::shared_ptr<Context> make_context(MPI_Comm from, const CommunicatorOptions& options, Handle handle) {
  CommunicatorOptions chosen = options;
  chosen.reproducible = chosen.reproducible || config().reproducible;
  if (chosen.timeout.count() == 0) chosen.timeout = config().timeout;
  chosen.check = std::max(chosen.check, static_cast<CheckMode>(config().check));
  auto state = std::make_shared<Context>(chosen);
  check_mpi(MPI_Comm_size(from, &state->size), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(from, &state->rank), "MPI_Comm_rank");
  state->neighbors = read_neighbors(from, state->rank);
  std::vector<int> members;
  if (state->rank == 0) members = world_ranks(from);
  flight::Recording recording(noted_factory());
  const Meeting meeting = check_agreement(*state, from, members);
  state->mark = Hash().add(meeting.kin.name).add(meeting.mark).value();
  record_in_flight(*state);
  if (meeting.lot != 0) state->lot = Lot(meeting.known->commons, meeting.lot, state->rank);
  use_private(*state, make_private(from, meeting.mark));
  if (meeting.traces) trace::meet(make_private(state->point_to_point, mix_bits(meeting.mark)), mix_bits(state->mark));
  const bool is_known = meeting.known && !meeting.is_stale;
  if (meeting.known) state->commons = meeting.known->commons;
  if (is_known)
    use_kin(*state, *meeting.known);
  else
    discover(*state);
  create_states(*state);
  make_node_part(*state);
  begin_check(*state);
  if (will_send(*state)) state->make_messages();
  const auto heritage = is_known ? meeting.known->heritage : std::make_shared<Heritage>();
  share_trials(*state, heritage, is_known ? meeting.left : Heritage::Left{});
  if (!is_known) {
    tuning::calibrate(*state);
    if (state->node_memory.is_shared) calibrate_node_parts(*state);
    keep_kin(meeting.kin, *state, heritage, std::move(members));
  }
  if (handle == Handle::own) {
    check_mpi(MPI_Comm_get_errhandler(from, &state->own_errors), "MPI_Comm_get_errhandler");
    if (meeting.has_room || !makes_late()) (void)state->handle();
  }
  recording.succeed();
  if (config().progress_thread) ProgressEngine::instance().start_thread();
  if (config().logs)
    for (const std::string& line : doubtful_variables()) log_once(line);
  return state;
}

std::shared_ptr<Context> make_child_context(Context& parent, int color, int key) {
  flight::Recording recording(noted_factory());
  // MPI_Comm_split blocks, so it must not begin before every rank is here; otherwise a rank might wait for ever for a
  // message from a rank inside it.
  const std::vector<Sibling> all = all_gather(parent, Sibling{late_communicators(), next_mark()});
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split(parent.point_to_point, color, key, &part);
  if (code != MPI_SUCCESS) throw_no_communicator("a part of a communicator", mpi_text(code));
  if (part == MPI_COMM_NULL) {
    prepare_parts(parent, nullptr, color);
    recording.succeed();
    return nullptr;
  }
  auto state = std::make_shared<Context>(parent.options);
  use_private(*state, part);
  const std::vector<int> ranks = ranks_in(parent.point_to_point, part);
  state->peers.watch(parent.peers, ranks);
  state->mark = Hash().add(parent.mark).add(all[static_cast<std::size_t>(ranks[0])].mark).value();
  record_in_flight(*state);
  state->reduction_faults = parent.reduction_faults;
  state->network = parent.network;
  state->progress_hook = parent.progress_hook;
  state->progress_report = parent.progress_report;
  state->costs = parent.costs;
  state->costs_report = parent.costs_report;
  use_topology(*state, restrict_topology(parent.topology, parent.point_to_point, part));
  load_measurements(*state);
  create_states(*state);
  make_node_part(*state);
  begin_check(*state);
  if (will_send(*state)) state->make_messages();
  const auto is_early = [](const Sibling& one) { return one.late < most_early_handles; };
  if (!makes_late() || std::all_of(all.begin(), all.end(), is_early)) (void)state->handle();
  prepare_parts(parent, state.get(), color);
  recording.succeed();
  return state;
}

}  // namespace tutti::detail
