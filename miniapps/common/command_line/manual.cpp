// SPDX-License-Identifier: BSD-3-Clause
#include "manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace tutti::command_line {

namespace {

constexpr const char* positional = "positional";

/// Text as roff takes it: a backslash and a minus sign are escaped, and no line begins with a control character.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    begins = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

/// "-o, --operations".
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  return names.empty() ? option.get_name(true) : names;
}

std::string type_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "flag";
  if (option.get_positional()) return positional;
  return option.get_type_name().empty() ? "TEXT" : option.get_type_name();
}

std::string option_text(const CLI::Option& option) {
  const std::string type = type_of(option);
  std::string text = fmt::format(".TP\n\\fB{}\\fR", roff(names_of(option)));
  if (type != "flag" && type != positional) text += fmt::format(" \\fI{}\\fR", roff(type));
  text += "\n" + roff(option.get_description());
  if (!option.get_default_str().empty()) text += fmt::format("\nDefault: {}.", roff(option.get_default_str()));
  return text + "\n";
}

/// The options of an app in its groups; CLI11's own group comes first.
std::string options_text(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : shown_options(app))
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  std::string text;
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += fmt::format(".SS {}\n", roff(group));
    for (const CLI::Option* option : shown_options(app))
      if (option->get_group() == group) text += option_text(*option);
  }
  return text;
}

/// Lines that begin with blanks stay lines.
std::string footer_text(const std::string& footer) {
  return footer.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(footer));
}

std::string first_sentence(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const std::string sentence = line.substr(0, line.find(". "));
  const std::string clause = sentence.substr(0, sentence.find_first_of(",:;"));
  return clause.ends_with('.') ? clause.substr(0, clause.size() - 1) : clause;
}

}  // namespace

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  auto options = app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  return {options.begin(), options.end()};
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  auto apps = app.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); });
  return {apps.begin(), apps.end()};
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::string name = app.get_name();
  std::string text = fmt::format(".TH {} 1 \"\" \"{}\" \"Tutti\"\n.SH NAME\n{} \\- {}\n", upper(roff(name)),
                                 roff(version), roff(name), roff(first_sentence(app.get_description())));
  text += fmt::format(".SH SYNOPSIS\n\\fBmpiexec \\-n\\fR \\fIRANKS\\fR \\fB{}\\fR{} [\\fIOPTION\\fR]...\n", roff(name),
                      subcommands_of(app).empty() ? "" : " \\fISUBCOMMAND\\fR");
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}", roff(app.get_description()), options_text(app));
  for (const CLI::App* sub : subcommands_of(app)) {
    text += fmt::format(".SH {}\n\\fB{} {}\\fR\n.PP\n{}\n{}", roff(upper(sub->get_name())), roff(name),
                        roff(sub->get_name()), roff(sub->get_description()), options_text(*sub));
    if (!sub->get_footer().empty()) text += fmt::format(".PP\nExample:\n.PP\n.nf\n{}\n.fi\n", roff(sub->get_footer()));
  }
  text += footer_text(app.get_footer());
  return text + ".SH EXIT STATUS\n0 if all went well, also after \\-\\-help; else another number on every rank.\n";
}

std::string option_list(const CLI::App& app) {
  std::string text;
  const auto add = [&text](const CLI::App& one, const std::string& name) {
    for (const CLI::Option* option : shown_options(one)) {
      std::string description = option->get_description();
      std::replace(description.begin(), description.end(), '\n', ' ');
      text += fmt::format("{}\t{}\t{}\t{}\n", name, option->get_name(), type_of(*option), description);
    }
  };
  add(app, "-");
  for (const CLI::App* sub : subcommands_of(app)) add(*sub, sub->get_name());
  return text;
}

}  // namespace tutti::command_line
