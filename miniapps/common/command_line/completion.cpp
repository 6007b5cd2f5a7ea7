// SPDX-License-Identifier: BSD-3-Clause
#include "parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "manual.hpp"

namespace tutti::command_line {

namespace {

/// The words of an option that has a choice: its description ends with "{a, b}". Else empty.
std::string words_of(const CLI::Option& option) {
  const std::string& text = option.get_description();
  const std::size_t begin = text.rfind('{');
  if (option.get_type_name() != "WORD" || begin == std::string::npos || !text.ends_with('}')) return {};
  std::string words = text.substr(begin + 1, text.size() - begin - 2);
  words.erase(std::remove(words.begin(), words.end(), ','), words.end());
  return words;
}

/// "--file|-f".
std::string pattern_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : "|-") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : "|--") + name;
  return names;
}

/// What follows an option, as commands of bash.
std::string values_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    const std::string pattern = pattern_of(*option);
    if (pattern.empty() || option->get_expected_max() == 0) continue;
    const std::string words = words_of(*option);
    const std::string type = option->get_type_name();
    const std::string reply = !words.empty()     ? fmt::format("-W '{}'", words)
                              : type == "FILE"   ? "-f"
                              : type == "FOLDER" ? "-d"
                                                 : "-W ''";
    text += fmt::format("      {}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n", pattern, reply);
  }
  return text;
}

std::string names_of(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : shown_options(app))
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
  return names;
}

std::string case_of(const std::string& subcommand, const CLI::App& app, const std::string& more) {
  return fmt::format("  {}) case $before in\n{}    esac\n    COMPREPLY=($(compgen -W '{}{}' -- \"$word\")) ;;\n",
                     subcommand.empty() ? "''" : subcommand, values_of(app), names_of(app), more);
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string function = "_" + app.get_name();
  std::replace(function.begin(), function.end(), '-', '_');
  std::string subcommands;
  std::string cases;
  for (const CLI::App* sub : subcommands_of(app)) {
    subcommands += " " + sub->get_name();
    cases += case_of(sub->get_name(), *sub, "");
  }
  cases += case_of("", app, subcommands);
  return fmt::format(
      "# bash completion for {0}; written by {0} --help-bash\n"
      "{1}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} sub='' at\n"
      "  [ \"$word\" != '=' ] || word=''\n"
      "  [ \"$before\" != '=' ] || before=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
      "    case ' {2} ' in *\" ${{COMP_WORDS[at]}} \"*) sub=${{COMP_WORDS[at]}}; break ;; esac\n"
      "  done\n"
      "  case $sub in\n{3}  esac\n"
      "}}\n"
      "complete -o bashdefault -F {1} {0}\n",
      app.get_name(), function, subcommands, cases);
}

}  // namespace tutti::command_line
