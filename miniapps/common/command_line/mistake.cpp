// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "parse.hpp"

namespace tutti::command_line {

namespace {

/// The apps from the program to the command whose arguments were read last.
std::vector<const CLI::App*> apps_read(const CLI::App& app) {
  std::vector<const CLI::App*> read{&app};
  for (auto inner = app.get_subcommands(); !inner.empty(); inner = inner.back()->get_subcommands())
    read.push_back(inner.back());
  return read;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

std::vector<std::string> options_of(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : app->get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The letters in which two words differ between their common begin and their common end.
std::size_t distance(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  const auto begin = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  const auto rest = a.substr(begin);
  const auto end =
      static_cast<std::size_t>(std::mismatch(rest.rbegin(), rest.rend(), b.rbegin()).first - rest.rbegin());
  return b.size() - begin - end;
}

std::string unknown_option(const std::vector<const CLI::App*>& apps, const std::string& name) {
  const std::vector<std::string> names = options_of(apps);
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& one, const auto& other) {
    return distance(one, name) < distance(other, name);
  });
  const bool is_near = nearest != names.end() && 2 * distance(*nearest, name) < std::max(nearest->size(), name.size());
  return fmt::format("there is no option {}{}", name, is_near ? fmt::format("; did you mean {}?", *nearest) : "");
}

std::string unknown(const std::vector<const CLI::App*>& apps, const std::string& argument) {
  if (argument.starts_with("-")) return unknown_option(apps, argument.substr(0, argument.find('=')));
  const std::vector<std::string> commands = commands_of(*apps.back());
  if (commands.empty()) return fmt::format("the argument '{}' is one too many; leave it out", argument);
  return fmt::format("there is no command '{}'; choose from {}", argument, CLI::detail::join(commands, ", "));
}

/// What was left out: a command, or the first argument that is needed.
std::string missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_required() && option->count() == 0)
      return fmt::format("argument {} is missing: {}", option->get_name(), option->get_description());
  return fmt::format("name a command: {}", CLI::detail::join(commands_of(app), ", "));
}

}  // namespace

std::string mistake_text(const CLI::App& app, const CLI::ParseError& error) {
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  const std::vector<const CLI::App*> apps = apps_read(app);
  std::vector<std::string> extras = app.remaining(true);
  std::erase(extras, "--");
  std::string text = error.what();
  if (!extras.empty() && (is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError)))
    text = unknown(apps, extras.front());
  else if (is(CLI::ExitCodes::RequiredError))
    text = missing(*apps.back());
  std::string names;
  for (const CLI::App* one : apps) names += one->get_name() + " ";
  return fmt::format("{} (see {}--help)", text, names);
}

}  // namespace tutti::command_line
