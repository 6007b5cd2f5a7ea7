// SPDX-License-Identifier: BSD-3-Clause
#include "planner/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "backends/list.hpp"
#include "call/agreement.hpp"
#include "core/apart.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "core/stopwatch.hpp"
#include "planner/files.hpp"

namespace tutti::detail::tuning {
namespace {

using Json = nlohmann::json;

constexpr const char* calibration_format = "tutti-calibration";
constexpr int calibration_version = 2;

std::atomic<bool> is_doubted{false};

/// The machine of a key in one text: what was measured with other numbers of ranks is another machine.
std::string machine_name(const Key& key) {
  return fmt::format("{}; {}; ranks {}; cores {}", key.cpu, key.mpi, fmt::join(key.ranks_per_node, "+"),
                     fmt::join(key.cores_per_node, "+"));
}

Json calibrations_in(std::string_view text) {
  Json document = Json::parse(text, nullptr, false);
  const bool is_ours = document.is_object() && document.contains("format") &&
                       document["format"] == calibration_format && document.contains("version") &&
                       document["version"] == calibration_version && document.contains("machines") &&
                       document["machines"].is_object();
  if (is_ours) return document;
  return {{"format", calibration_format}, {"version", calibration_version}, {"machines", Json::object()}};
}

/// What rank 0 tells the others.
struct Known {
  Costs costs{};
  std::int32_t found = 0;
  std::int32_t doubted = 0;
};

Known look_for_costs(const Context& context) noexcept {
  Known known;
  known.doubted = is_doubted.exchange(false) ? 1 : 0;
  try {
    const auto text = read_file(calibration_file());
    const auto costs = text ? costs_in(*text, key_of(context.topology)) : std::nullopt;
    known.found = costs ? 1 : 0;
    known.costs = costs.value_or(Costs{});
  } catch (const std::exception&) {
    known.found = 0;  // measured instead
  }
  return known;
}

void keep_costs(const Context& context) noexcept {
  try {
    const auto file = calibration_file();
    if (file.empty()) return;
    std::string text;
    try {
      text = read_file(file).value_or("");
    } catch (const std::exception&) {
      text.clear();  // replaces what cannot be read
    }
    write_file(file, with_costs(text, key_of(context.topology), context.costs));
  } catch (const std::exception&) {
    // The next program measures again.
  }
}

void tell(const Context& context, Known& known) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&known, sizeof known, MPI_BYTE, 0, context.point_to_point, &request), "MPI_Ibcast");
  wait_yielding(request, "MPI_Ibcast");
}

struct Measurement {
  Costs costs{};
  bool is_disturbed = false;  ///< by other work on a core of some rank
};

/// The worst of all ranks, so that no rank's costs are taken for less than they are.
void agree(const Context& context, Measurement& own) {
  std::array<double, named_costs.size() + 1> numbers{};
  for (std::size_t i = 0; i < named_costs.size(); ++i) numbers[i] = own.costs.*named_costs[i].value;
  numbers.back() = own.is_disturbed ? 1 : 0;
  take_greatest(context, numbers);
  for (std::size_t i = 0; i < named_costs.size(); ++i) own.costs.*named_costs[i].value = numbers[i];
  own.is_disturbed = numbers.back() > 0;
}

/// Collective. A rank that measures nothing must not win with the prior.
Measurement measure_once(Context& context, Calibration kind) {
  // A tick of the system's clock takes a few microseconds of every core.
  constexpr double usual_absence = 0.2e-3;
  Measurement found;
  for (const NamedCost& cost : named_costs) found.costs.*cost.value = 0;
  move_apart(context);
  const AbsenceWatch absence;
  for (const Backend* backend : backends())
    if (BackendState* state = context.state_of(*backend)) state->calibrate(context, found.costs, kind);
  found.is_disturbed = absence.seconds() > usual_absence;
  agree(context, found);
  for (const NamedCost& cost : named_costs)
    if (found.costs.*cost.value <= 0) found.costs.*cost.value = typical_costs.*cost.value;
  return found;
}

/// Collective. Measures a second time if other work disturbs the first.
Measurement measure(Context& context, Calibration kind) {
  Measurement first = measure_once(context, kind);
  if (!first.is_disturbed) return first;
  const Measurement second = measure_once(context, kind);
  if (!second.is_disturbed) return second;
  for (const NamedCost& cost : named_costs)
    first.costs.*cost.value = std::min(first.costs.*cost.value, second.costs.*cost.value);
  return first;
}

/// Returns true if the costs of earlier are those of now. A virtual machine may find its cores elsewhere every time.
bool still_hold(const Costs& earlier, const Costs& now) {
  constexpr double alike = 1.4;
  return now.line < earlier.line * alike && earlier.line < now.line * alike;
}

bool can_measure(const Context& context) {
  return context.size > 1 && context.topology.nodes == 1 && !context.topology.oversubscribed;
}

/// Measures all costs. No file keeps a disturbed measurement, and earlier costs win over it. Returns false if the
/// earlier costs stay.
bool measure_all(Context& context, const std::optional<Costs>& earlier, CalibrationMode mode) {
  const Stopwatch watch;
  const Measurement found = measure(context, Calibration::full);
  if (found.is_disturbed && earlier) {
    context.costs = *earlier;
    context.costs_report = "calibrated earlier, because other work disturbs a new measurement";
    return false;
  }
  context.costs = found.costs;
  context.costs_report = fmt::format("calibrated now, in {:.1f} ms{}", watch.seconds() * 1e3,
                                     found.is_disturbed ? ", beside other work: not kept" : "");
  if (!found.is_disturbed && context.rank == 0 && mode == CalibrationMode::automatic) keep_costs(context);
  return true;
}

}  // namespace

void doubt_calibration() noexcept {
  // Once per process: what surprises after a second measurement is the model, or the program.
  static std::atomic<bool> was_doubted{false};
  if (!was_doubted.exchange(true)) is_doubted.store(true);
}

bool is_calibration_doubted() noexcept { return is_doubted.load(); }

std::filesystem::path calibration_file() {
  const auto table = cache_file();
  return table.empty() ? table : table.parent_path() / "calibration.json";
}

void move_apart(const Context& context) {
  const std::vector<int> running = all_gather(context, sched_getcpu());
  if (!is_on_unit_of_a_lower(running, context.rank)) return;
  if (const auto unit = free_unit(running, context.rank, allowed_units())) move_to_unit(*unit);
}

void calibrate(Context& context) {
  const CalibrationMode mode = config().calibration;
  context.costs_report = "the prior, because TUTTI_CALIBRATION=off";
  if (mode == CalibrationMode::off) return;
  Known known;
  if (context.rank == 0) known = look_for_costs(context);
  tell(context, known);
  const bool measures = mode != CalibrationMode::file && can_measure(context);
  const bool knows = known.found != 0 && mode != CalibrationMode::now;
  const auto holds = [&] {
    return known.doubted == 0 && still_hold(known.costs, measure(context, Calibration::check).costs);
  };
  if (knows && (!measures || holds())) {
    context.costs = known.costs;
    context.costs_report = "calibrated earlier, kept in the user's cache";
  } else if (!measures) {
    context.costs_report =
        mode == CalibrationMode::file
            ? "the prior, because the user's cache has no calibration"
            : "the prior, because one rank, ranks that share cores and several nodes are not measured";
  } else if (!measure_all(context, knows ? std::optional(known.costs) : std::nullopt, mode) && known.doubted != 0) {
    is_doubted.store(true);  // for the next communicator
  }
}

std::optional<Costs> costs_in(std::string_view text, const Key& key) {
  const Json document = calibrations_in(text);
  const Json& machines = document["machines"];
  const auto machine = machines.find(machine_name(key));
  if (machine == machines.end() || !machine->is_object()) return std::nullopt;
  Costs costs;
  for (const NamedCost& cost : named_costs) {
    const auto found = machine->find(std::string(cost.name));
    if (found == machine->end() || !found->is_number()) return std::nullopt;
    costs.*cost.value = found->get<double>();
  }
  return are_sane(costs) ? std::optional(costs) : std::nullopt;
}

std::string with_costs(std::string_view text, const Key& key, const Costs& costs) {
  Json document = calibrations_in(text);
  Json& machine = document["machines"][machine_name(key)];
  machine = Json::object();
  for (const NamedCost& cost : named_costs) machine[std::string(cost.name)] = costs.*cost.value;
  return document.dump(1) + "\n";
}

bool are_sane(const Costs& costs) {
  constexpr double longest = 1.0;
  for (const NamedCost& cost : named_costs)
    if (!std::isfinite(costs.*cost.value) || costs.*cost.value <= 0 || costs.*cost.value > longest) return false;
  return true;
}

std::string text_of(const Costs& costs) {
  std::vector<std::string> words;
  for (const NamedCost& cost : named_costs) {
    const double value = costs.*cost.value;
    if (cost.unit == "s")
      words.push_back(fmt::format("{} {:.3g} ns", cost.name, value * 1e9));
    else if (cost.unit == "s/B")
      words.push_back(fmt::format("{} {:.3g} GB/s", cost.name, 1e-9 / value));
    else
      words.push_back(fmt::format("{} 1/{:.3g} MB", cost.name, 1e-6 / value));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace tutti::detail::tuning
