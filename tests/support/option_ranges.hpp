// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/command_line/parse.hpp"

/// Checks of a program's whole command line: every option is in the help, and none takes a value outside its range.
namespace tutti::command_line::testing {

using Parse = std::function<Outcome(const std::vector<std::string>&)>;

/// A line of --help-options.
struct Listed {
  std::string subcommand;
  std::string name;  ///< the last of several
  std::string type;
  std::string description;

  [[nodiscard]] bool is_number() const { return type.starts_with("N") && type != "NAME" && type != "NAME,..."; }
  [[nodiscard]] bool is_size() const { return type.starts_with("BYTES"); }
  /// "[0, 1)", at the end of the description; empty if there is none.
  [[nodiscard]] std::string range() const {
    const std::size_t begin = description.find_last_of("[(");
    const bool ends = description.ends_with(']') || description.ends_with(')');
    return begin == std::string::npos || !ends ? "" : description.substr(begin);
  }
};

inline std::vector<Listed> options_of(const Parse& parse) {
  std::istringstream lines(parse({"--help-options"}).text);
  std::vector<Listed> options;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 3) << "'" << line << "'";
    std::istringstream fields(line);
    Listed one;
    std::string names;
    std::getline(fields, one.subcommand, '\t');
    std::getline(fields, names, '\t');
    std::getline(fields, one.type, '\t');
    std::getline(fields, one.description);
    one.name = names.substr(names.rfind(',') == std::string::npos ? 0 : names.rfind(',') + 1);
    options.push_back(one);
  }
  return options;
}

inline std::vector<std::string> with_value(const Listed& option, const std::string& value) {
  std::vector<std::string> arguments;
  if (option.subcommand != "-") arguments.push_back(option.subcommand);
  arguments.push_back(option.name + "=" + value);
  return arguments;
}

inline void expect_refused(const Parse& parse, const Listed& option, const std::string& value) {
  const Outcome outcome = parse(with_value(option, value));
  EXPECT_TRUE(outcome.stop) << option.name << " takes '" << value << "'";
  EXPECT_NE(outcome.exit_code, 0) << option.name << " " << value;
  EXPECT_NE(outcome.text.find(option.name), std::string::npos) << outcome.text;
  if (value.empty()) return;  // the parser says itself that there is no value
  for (const std::string& part : {"'" + value + "'", option.range()})
    EXPECT_NE(outcome.text.find(part), std::string::npos) << part << " is not in: " << outcome.text;
  EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
}

/// The whole numbers just outside a range, as text; of ranges of other numbers the ends that do not belong to it.
inline std::vector<std::string> just_outside(const std::string& range) {
  const std::string least = range.substr(1, range.find(',') - 1);
  const std::string most = range.substr(range.find(' ') + 1, range.size() - range.find(' ') - 2);
  std::vector<std::string> outside;
  if (range.front() == '(') outside.push_back(least);
  if (range.back() == ')') outside.push_back(most);
  std::int64_t number = 0;
  const auto read = [&number](const std::string& text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
  };
  if (read(least)) outside.push_back(std::to_string(number - 1));
  if (read(most) && number < std::numeric_limits<std::int64_t>::max()) outside.push_back(std::to_string(number + 1));
  return outside;
}

/// Every option with numbers or sizes has a range and refuses what is outside it; every choice refuses other words.
inline void expect_ranges(const Parse& parse, std::size_t least_options) {
  const std::vector<Listed> options = options_of(parse);
  ASSERT_GE(options.size(), least_options);
  for (const Listed& option : options) {
    if (option.is_number() || option.is_size()) {
      ASSERT_NE(option.range(), "") << option.name;
      for (const char* value : {"abc", "", "nan", "inf", "-1e400", "1e400", "3x", "--1"})
        expect_refused(parse, option, value);
      for (const std::string& value : just_outside(option.range())) expect_refused(parse, option, value);
    } else if (option.type == "WORD") {
      expect_refused(parse, option, "no-such-word");
    }
  }
}

/// The help of the program and of its subcommands names every option and ends as it should, without characters that
/// would end or hide a part of it.
inline void expect_help(const Parse& parse) {
  for (const Listed& option : options_of(parse)) {
    const Outcome help = parse(option.subcommand == "-" ? std::vector<std::string>{"--help"}
                                                        : std::vector<std::string>{option.subcommand, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    const std::string shown = help.text.c_str();  // as fputs sees it
    EXPECT_NE(shown.find(option.name), std::string::npos) << option.subcommand << " " << option.name;
    EXPECT_TRUE(std::all_of(help.text.begin(), help.text.end(), [](unsigned char c) {
      return c == '\n' || (c >= ' ' && c != 0x7f);
    })) << option.subcommand;
  }
}

}  // namespace tutti::command_line::testing
