// SPDX-License-Identifier: BSD-3-Clause
#include "study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tutti/collectives/bcast.hpp>

#include "breakdown.hpp"
#include "common/agree.hpp"
#include "common/show/text_file.hpp"
#include "scaling.hpp"
#include "sweep.hpp"
#include "workload_flags.hpp"

namespace sgd {

namespace {

namespace mini = tutti::miniapps;
using Json = nlohmann::ordered_json;
using tutti::Communicator;

struct Findings {
  std::string text;
  Json json;
  std::size_t wrong = 0;
};

/// A line a method: the step, what it adds to the step without communication, also as a share of flat's, buckets,
/// bytes.
std::string methods_text(const std::vector<Figures>& figures) {
  const auto flat =
      std::find_if(figures.begin(), figures.end(), [](const Figures& f) { return f.method.mode == "flat"; });
  std::string text = fmt::format("{:<18}{:>10}{:>13}{:>11}{:>9}{:>13}\n", "mode", "step ms", "exposed ms", "of flat's",
                                 "buckets", "MB per step");
  for (const Figures& f : figures) {
    const bool has_share = flat != figures.end() && flat->exposed > 0 && f.method.mode != "none";
    text += fmt::format("{:<18}{:>10.2f}{:>13.2f}{:>11}{:>9}{:>13.1f}\n", f.method.name, f.step, f.exposed,
                        has_share ? fmt::format("{:.1f} %", 100 * f.exposed / flat->exposed) : "",
                        f.buckets == 0 ? "" : std::to_string(f.buckets), f.bytes_per_step * 1e-6);
  }
  return text;
}

/// Whether averages were right, for people.
std::string checked_text(std::size_t wrong) {
  if (wrong == 0) return "every element of the last averages is right\n";
  return fmt::format("{} elements of the last averages are WRONG\n", wrong);
}

Json to_json(const Figures& f) {
  Json json;
  json["mode"] = f.method.name;
  json["step_ms"] = f.step;
  json["exposed_ms"] = f.exposed;
  json["forward_ms"] = f.forward;
  json["backward_ms"] = f.backward;
  json["update_ms"] = f.update;
  json["bytes_per_step"] = f.bytes_per_step;
  if (f.method.has_buckets()) {
    json["buckets"] = f.buckets;
    json["bucket_bytes"] = f.bucket_bytes;
  }
  return json;
}

std::size_t wrong_in(const std::vector<Figures>& figures) {
  std::size_t wrong = 0;
  for (const Figures& f : figures) wrong += f.wrong;
  return wrong;
}

Json to_json(const std::vector<Figures>& figures) {
  Json rows = Json::array();
  for (const Figures& f : figures) rows.push_back(to_json(f));
  return rows;
}

Findings compare(const Communicator& comm, Subject& subject, const WorkloadFlags& flags, const Options& options) {
  const auto methods = methods_of(flags, options, "none,naive,flat,bucketed,overlap");
  const auto figures = subject.measure(comm, methods, Growth::weak);
  return {methods_text(figures), {{"modes", to_json(figures)}}, wrong_in(figures)};
}

Findings break_down(const Communicator& comm, Subject& subject, const WorkloadFlags& flags, const Options& options) {
  const auto methods = methods_of(flags, options, "none,flat,bucketed,overlap");
  const auto figures = subject.measure(comm, breakdown_methods(methods), Growth::weak);
  const bool has_none = !figures.empty() && figures.front().method.mode == "none";
  const auto rows = breakdown_rows(figures, methods.size() - (has_none ? 0 : 1));
  Json json = Json::array();
  for (const BreakdownRow& row : rows) {
    json.push_back({{"mode", row.name},
                    {"forward_ms", row.forward},
                    {"backward_ms", row.backward},
                    {"communication_ms", row.communication},
                    {"exposed_ms", row.exposed},
                    {"update_ms", row.update}});
  }
  return {breakdown_text(rows), {{"breakdown", json}}, wrong_in(figures)};
}

Findings scale(const Communicator& comm, Subject& subject, const WorkloadFlags& flags, const Options& options) {
  const Growth growth = flags.scaling == "weak" ? Growth::weak : Growth::strong;
  const auto points = measure_scaling(comm, subject, methods_of(flags, options, "none,flat,overlap"), growth);
  Findings findings;
  if (comm.rank() != 0) return findings;
  Json json = Json::array();
  for (std::size_t p = 0; p < points.size(); ++p) {
    json.push_back({{"ranks", points[p].ranks}, {"modes", to_json(points[p].figures)}});
    for (std::size_t m = 0; m < points[p].figures.size(); ++m) {
      json.back()["modes"][m]["efficiency"] = efficiency(points, p, m, growth);
    }
    findings.wrong += wrong_in(points[p].figures);
  }
  findings.text = scaling_text(points, growth);
  findings.json = {{"scaling", flags.scaling}, {"points", json}};
  return findings;
}

Findings sweep(const Communicator& comm, Subject& subject, const WorkloadFlags& flags, const Options& options) {
  const Sweep found = measure_sweep(comm, subject, methods_of(flags, options, "none").front());
  Json json = Json::array();
  std::size_t wrong = wrong_in(found.levels);
  for (const SweepPoint& point : found.points) {
    json.push_back(to_json(point.figures));
    json.back()["bucket_bytes"] = point.bucket_bytes;
    json.back()["auto"] = point.is_chosen;
    wrong += point.figures.wrong;
  }
  return {sweep_text(found), {{"sweep", json}, {"levels", to_json(found.levels)}}, wrong};
}

using Measure = Findings (*)(const Communicator&, Subject&, const WorkloadFlags&, const Options&);

void write_files(const WorkloadFlags& flags, const Options& options, const Findings& findings) {
  if (!options.json_file.empty()) mini::write_text(options.json_file, findings.json.dump(2) + "\n");
  if (!flags.svg_file.empty()) mini::draw_chart({"-", "-o", flags.svg_file}, findings.json.dump());
}

class SubjectStudy : public Study {
 public:
  SubjectStudy(std::shared_ptr<WorkloadFlags> flags, bool (*is_asked_for)(const WorkloadFlags&), Measure measure,
               bool adds_flags)
      : flags_(std::move(flags)), is_asked_for_(is_asked_for), measure_(measure), adds_flags_(adds_flags) {}

  void add_flags(CLI::App& app) override {
    if (adds_flags_) add_workload_flags(app, *flags_);
  }
  bool selected() const override { return is_asked_for_(*flags_); }
  void validate(const Options& options) const override { sgd::validate(*flags_, options); }

  void run(const Communicator& comm, const Options& options) override {
    const bool is_first = comm.rank() == 0;
    std::unique_ptr<Subject> subject;
    mini::run_agreed(comm, [&] {
      if (is_first && !options.json_file.empty()) mini::check_writable(options.json_file);
      if (is_first && !flags_->svg_file.empty()) mini::check_chart(flags_->svg_file);
      subject = make_subject(*flags_, options);
    });
    if (is_first) print(fmt::format("{}; {} ranks\n", subject->title(), comm.size()));
    Findings findings = measure_(comm, *subject, *flags_, options);
    findings.json["title"] = subject->title();
    findings.json["ranks"] = comm.size();
    std::uint64_t wrong = findings.wrong;
    tutti::bcast(comm, tutti::Buffer(&wrong, 1), 0);
    if (is_first) print(findings.text + (flags_->network.empty() ? "" : checked_text(wrong)));
    mini::run_agreed(comm, [&] {
      if (is_first) write_files(*flags_, options, findings);
    });
    mini::agree(comm, wrong == 0 ? "" : "averages were wrong, see above");
  }

 private:
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  std::shared_ptr<WorkloadFlags> flags_;
  bool (*is_asked_for_)(const WorkloadFlags&);
  Measure measure_;
  bool adds_flags_;
};

}  // namespace

std::vector<std::unique_ptr<Study>> make_studies() {
  const auto flags = std::make_shared<WorkloadFlags>();
  std::vector<std::unique_ptr<Study>> studies;
  const auto add = [&](bool (*is_asked_for)(const WorkloadFlags&), Measure measure) {
    studies.push_back(std::make_unique<SubjectStudy>(flags, is_asked_for, measure, studies.empty()));
  };
  add([](const WorkloadFlags& f) { return !f.scaling.empty(); }, scale);
  add([](const WorkloadFlags& f) { return f.breakdown; }, break_down);
  add([](const WorkloadFlags& f) { return f.sweep; }, sweep);
  add([](const WorkloadFlags& f) { return !f.network.empty(); }, compare);
  return studies;
}

}  // namespace sgd
