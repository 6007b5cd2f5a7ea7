// SPDX-License-Identifier: BSD-3-Clause
#include "parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "manual.hpp"

namespace tutti::command_line {

namespace {

void add_hidden(CLI::App& app, const char* name, std::function<std::string()> text) {
  const auto show = [text = std::move(text)] {
    std::string shown = text();
    if (shown.ends_with('\n')) shown.pop_back();  // the parser ends it
    throw CLI::CallForVersion(shown, 0);
  };
  app.add_flag_callback(name, show)->group("");
}

}  // namespace

void add_helps(CLI::App& app, const std::string& version) {
  app.set_version_flag("--version", version);
  add_hidden(app, "--help-man", [&app, version] { return manual_page(app, version.substr(0, version.find('\n'))); });
  add_hidden(app, "--help-bash", [&app] { return bash_completion(app); });
  add_hidden(app, "--help-options", [&app] { return option_list(app); });
}

Outcome outcome_of(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  if (app.exit(error, out, err) == 0) return {true, 0, out.str()};
  return {true, 1, app.get_name() + ": " + mistake_text(app, error) + "\n"};
}

Outcome parse(CLI::App& app, std::vector<std::string> arguments, const std::function<void()>& check) {
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
    check();
  } catch (const CLI::RuntimeError& end) {
    return {true, end.get_exit_code()};  // a command that has said why
  } catch (const CLI::ParseError& error) {
    return outcome_of(app, error);
  } catch (const std::exception& error) {
    return {true, 1, app.get_name() + ": " + error.what() + "\n"};
  }
  return {};
}

bool asks_for_document(int argc, const char* const* argv) {
  return argc == 2 && std::string_view(argv[1]).starts_with("--help-");
}

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  return {argv + std::min(argc, 1), argv + argc};
}

int show(const Outcome& outcome, int rank) {
  if (rank == 0) std::fputs(outcome.text.c_str(), outcome.exit_code == 0 ? stdout : stderr);
  return outcome.exit_code;
}

}  // namespace tutti::command_line
