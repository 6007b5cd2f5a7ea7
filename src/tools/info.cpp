// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <tutti/environment.hpp>

#include "backends/nccl/table.hpp"
#include "core/variables.hpp"
#include "kernels/device/launcher.hpp"
#include "planner/calibration.hpp"
#include "planner/files.hpp"
#include "tools/commit.hpp"
#include "tools/loaded_mpi.hpp"
#include "tools/program.hpp"
#include "tools/question.hpp"

namespace tutti::tools {
namespace {

/// A section: its name, and its text moved to the right.
std::string section(const std::string& name, const std::string& text) {
  std::string moved = name + "\n  ";
  for (const char c : text) moved += c == '\n' ? std::string("\n  ") : std::string(1, c);
  while (moved.ends_with(' ') || moved.ends_with('\n')) moved.pop_back();
  return moved + "\n\n";
}

std::string line(std::string_view name, std::string_view value) { return fmt::format("{:<18}{}\n", name, value); }

std::string yes(bool has, const std::string& why) { return has ? "yes" : why.empty() ? "no" : "no: " + why; }

std::string build_text() {
  return line("commit", TUTTI_COMMIT) + line("compiler", TUTTI_BUILD_COMPILER) + line("flags", TUTTI_BUILD_FLAGS) +
         line("configuration", TUTTI_BUILD_TYPE) + line("options", TUTTI_BUILD_OPTIONS);
}

std::string features_text(const Surroundings& here) {
  return line("shared memory", yes(here.shm, here.shm_report)) +
         line("single copy", yes(here.single_copy, here.shm_report)) + line("XPMEM", yes(here.mapped_copy, "")) +
         line("progress in MPI", (here.progress_hook ? "yes: " : "no: ") + here.progress_report) +
         line("NCCL", yes(here.device.nccl_version != 0, here.device.nccl_report)) +
         line("device memory", yes(here.device.built, "built without TUTTI_ENABLE_CUDA and TUTTI_ENABLE_HIP")) +
         line("device kernels",
              fmt::format("launched by {}", kernels::device::launcher_text(kernels::device::launcher())));
}

std::string shown(const std::filesystem::path& path) {
  if (path.empty()) return "none: neither XDG_CACHE_HOME nor HOME is set";
  std::error_code error;
  return path.string() + (std::filesystem::exists(path, error) ? "" : " (not there)");
}

std::string paths_text() {
  std::error_code error;
  const std::string library = file_in(library_folders(), TUTTI_LIBRARY_FILE);
  return line("program", std::filesystem::read_symlink("/proc/self/exe", error).string()) +
         line("library", library.empty() ? "none beside this program, which has its own inside" : library) +
         line("table", shown(detail::tuning::cache_file())) +
         line("installed table", shown(detail::tuning::install_file())) +
         line("calibration", shown(detail::tuning::calibration_file()));
}

std::string choices_text(const Surroundings& here) {
  return line("costs", fmt::format("{}: {}", here.costs_report, detail::tuning::text_of(here.costs))) +
         line("measured table", here.table_report.empty() ? "none" : here.table_report);
}

std::string variables_text() {
  std::string text;
  for (const auto& [name, meaning] : detail::variables()) {
    const char* value = std::getenv(std::string(name).c_str());
    text += fmt::format("{:<24}{:<16}{}\n", name, value == nullptr ? "-" : value, meaning);
  }
  return text;
}

}  // namespace

std::string version_text() {
  return fmt::format("tutti {}\ncommit {}\n{}", version(), TUTTI_COMMIT, TUTTI_BUILD_OPTIONS);
}

std::string info_text() {
  const Surroundings here = surroundings_of({});
  std::string text = section("Libraries", config_summary()) + section("Build", build_text()) +
                     section("Features here", features_text(here)) + section("Files", paths_text()) +
                     section("Choices", choices_text(here)) +
                     section("Environment variables, their values, their meaning", variables_text());
  std::string doubts;
  for (const std::string& doubt : detail::doubtful_variables()) doubts += doubt + "\n";
  if (!doubts.empty()) text += section("Doubtful variables", doubts);
  text.pop_back();
  return text;
}

void add_info(CLI::App& app) {
  CLI::App* info = app.add_subcommand(
      "info", "Version, MPI, build, features, files and environment variables, for a report of a problem");
  info->callback([] { print(info_text()); });
}

}  // namespace tutti::tools
