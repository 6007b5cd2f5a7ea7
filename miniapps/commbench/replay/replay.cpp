// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replay.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "common/command_line/options.hpp"
#include "common/show/text_file.hpp"
#include "replay/comparison.hpp"
#include "replay/player.hpp"
#include "replay/recording.hpp"
#include "replay/session.hpp"
#include "team.hpp"

namespace tutti::commbench::replay {
namespace {

using namespace command_line;

Recording read(const Communicator& comm, const ReplaySettings& settings) {
  Recording recording;
  std::string problem;
  try {
    recording = read_recording(settings.files, comm.rank(), comm.size());
    if (recording.ranks > comm.size() && settings.shrinks)
      shrink(recording, comm.rank(), comm.size());
    else if (recording.ranks != 0 && recording.ranks != comm.size())
      problem = fmt::format("the trace has {} ranks, and this job {}; start as many{}", recording.ranks, comm.size(),
                            recording.ranks > comm.size() ? ", or pass --shrink" : "");
  } catch (const std::invalid_argument& error) {
    problem = error.what();
  }
  agree(comm, problem);
  const double calls = Team(comm).sum(static_cast<double>(recording.calls.size()));
  if (calls == 0)
    throw std::invalid_argument("replay: the trace has no calls that can be replayed; is it the right file?");
  return recording;
}

}  // namespace

CLI::App* add_replay(CLI::App& app, ReplaySettings& s) {
  CLI::App* command = app.add_subcommand(
      "replay",
      "Makes the calls of a trace again, with their sizes, splits, communicators and the time between them, and "
      "compares "
      "the times. Traces: of TUTTI_TRACE, basic ones of PARAM, execution traces and profiles of PyTorch, and Chakra's. "
      "Run it as: "
      "mpiexec -n 4 tutti-commbench replay trace.json");
  command
      ->add_option("files", s.files,
                   "the trace of all ranks; or a file of each rank, whose name ends with the rank's number; or their "
                   "folder; or one file that each rank takes as its own")
      ->required()
      ->type_name("FILE");
  add_choice<Gaps>(*command, "--gaps", s.gaps,
                   {{"compute", Gaps::compute}, {"sleep", Gaps::sleep}, {"drop", Gaps::drop}},
                   "between two calls: computes or sleeps for the recorded time, or drops it");
  add_number(*command, "--repeats", s.repeats, {1, 100000}, "timed replays, of which the medians count");
  add_choice<Check>(*command, "--check", s.check, {{"all", Check::all}, {"sample", Check::sample}, {"off", Check::off}},
                    "which results are verified; sample: those of a replay before the timed ones");
  add_choice<MemorySpace>(*command, "--memory", s.memory,
                          {{"host", MemorySpace::host},
                           {"pinned", MemorySpace::pinned},
                           {"device", MemorySpace::device},
                           {"managed", MemorySpace::managed}},
                          "where the buffers lie");
  add_text(*command, "--algorithm", s.algorithm, "NAME", "of all collectives, as in --algorithms; else Tutti's choice");
  add_flag(*command, "--shrink", s.shrinks, "replays a trace of more ranks: the ranks that are missing give nothing");
  add_bytes(*command, "--buffer-bytes", s.buffer_bytes, {0, most_bytes},
            "buffers of calls that are over are kept for the next of the same sizes, up to so many bytes a rank");
  add_text(*command, "--json", s.json_file, "FILE", "writes all figures to this file");
  return command;
}

int run_replay(const Communicator& comm, const ReplaySettings& settings) {
  const std::string why = why_no_memory(settings.memory);
  if (!why.empty()) throw std::invalid_argument(fmt::format("--memory {}: {}", space_name(settings.memory), why));
  const bool is_first = comm.rank() == 0;
  if (is_first && !settings.json_file.empty()) miniapps::check_writable(settings.json_file);
  const Recording recording = read(comm, settings);
  const Session session(comm, recording);
  Player player(session, recording, settings);
  const Comparison comparison = compare(comm, recording, player.play());
  if (is_first) std::fputs(comparison_text(comparison).c_str(), stdout);
  if (is_first && !settings.json_file.empty()) write_comparison(settings.json_file, settings, comm, comparison);
  return comparison.wrong > 0 ? 1 : 0;
}

}  // namespace tutti::commbench::replay
