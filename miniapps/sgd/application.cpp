// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdio>

#include "common/agree.hpp"
#include "common/results.hpp"
#include "model.hpp"
#include "options.hpp"
#include "run.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

constexpr std::array all_modes{"naive",         "flat",    "bucketed",        "overlap",
                               "join",          "sharded", "hook=bf16",       "hook=fp16",
                               "hook=powersgd", "local",   "parameter-server"};

Options with_mode(const Options& options, const std::string& mode) {
  Options changed = options;
  const bool hook = mode.starts_with("hook=");
  changed.mode = hook ? "overlap" : mode;
  changed.hook = hook ? mode.substr(5) : "none";
  return changed;
}

/// Why a mode cannot train as the options say; empty when it can.
std::string reason_against(const Options& options) {
  try {
    validate(options);
  } catch (const tutti::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

void run_application(const tutti::Communicator& comm, const Options& options) {
  std::unique_ptr<Source> source;
  Configuration described;
  mini::run_agreed(comm, [&] {
    if (!options.json_file.empty() && comm.rank() == 0) {
      mini::check_writable(options.json_file);
    }
    source = make_source(options);
    described = configuration(options, model_widths(options, *source), *source);
  });
  const auto print = [&](const std::string& text) {
    if (comm.rank() == 0) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    }
  };
  print(header_text(described, comm.size()));
  std::vector<ModeResults> modes;
  if (options.compare) {
    for (const char* mode : all_modes) {
      const Options changed = with_mode(options, mode);
      const std::string against = reason_against(changed);
      modes.push_back(against.empty() ? run_mode(comm, changed, *source, [](const std::string&) {})
                                      : ModeResults{mode, against, {}, {}});
    }
    print(compare_text(modes));
  } else {
    modes.push_back(run_mode(comm, options, *source, print));
    print((modes[0].test ? test_text(*modes[0].test) : "") + phase_text(modes[0].training) + modes[0].training.details);
  }
  mini::run_agreed(comm, [&] {
    if (!options.json_file.empty() && comm.rank() == 0) {
      write_json(options.json_file, described, comm.size(), modes);
    }
  });
}

}  // namespace sgd
