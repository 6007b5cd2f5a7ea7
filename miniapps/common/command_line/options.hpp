// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "numbers.hpp"

/// The options of the programs. Each has a range or a list of values, which its help shows and which is checked here
/// and nowhere else. A value that is none of them is refused with a text that names option, value and range. The last
/// of several equal options counts.
namespace tutti::command_line {

/// The largest number for what a program counts or steps through.
inline constexpr std::uint64_t most_counted = 1'000'000'000'000;
/// The largest buffer or file size.
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 44U;

namespace parts {

/// Calls `set` with the text of an option; what it throws names the option.
inline CLI::Option* add(CLI::App& app, const std::string& name, const char* type, const std::string& usual,
                        const std::string& help, std::function<void(const std::string&)> set) {
  const std::string shown = name.substr(name.rfind(',') == std::string::npos ? 0 : name.rfind(',') + 1);
  const auto named = [shown, set = std::move(set)](const std::string& text) {
    try {
      set(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(shown, error.what());
    }
  };
  return app.add_option_function<std::string>(name, named, help)->type_name(type)->default_str(usual)->take_last();
}

/// Calls `read` with each part of a list; what it throws names the whole text too.
template <typename Read>
void for_each_part(const std::string& text, char separator, const Read& read) {
  const std::vector<std::string> words = split(text, separator);
  try {
    for (const std::string& word : words) read(word);
  } catch (const std::invalid_argument& error) {
    if (words.size() == 1) throw;
    throw std::invalid_argument(fmt::format("'{}': {}", text, error.what()));
  }
}

template <typename T>
std::string joined(const std::vector<T>& values, char separator) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += separator;
    if constexpr (std::is_same_v<T, std::string>) {
      text += value;
    } else {
      text += fmt::format("{}", value);
    }
  }
  return text;
}

}  // namespace parts

/// A number. Its present value is shown as the default if it is in the range; otherwise the help says what is done
/// without the option.
template <Number T>
CLI::Option* add_number(CLI::App& app, const std::string& name, T& target,
                        const std::type_identity_t<NumberRange<T>>& range, const std::string& help) {
  const std::string usual = range.holds(target) ? fmt::format("{}", target) : std::string();
  return parts::add(app, name, "N", usual, fmt::format("{} {}", help, range.text()),
                    [&target, range](const std::string& text) { target = parse_number(text, range); });
}

/// Numbers between separators, at least one.
template <Number T>
CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<T>& target, char separator,
                         const std::type_identity_t<NumberRange<T>>& range, const std::string& help) {
  const auto set = [&target, separator, range](const std::string& text) {
    target.clear();
    parts::for_each_part(text, separator,
                         [&](const std::string& part) { target.push_back(parse_number(part, range)); });
  };
  return parts::add(app, name, separator == '-' ? "N-N-..." : "N,N,...", parts::joined(target, separator),
                    fmt::format("{} {}", help, range.text()), set);
}

/// A size in bytes, such as 4096, 64K or 25M. The word, if there is one, stands for 0.
inline CLI::Option* add_bytes(CLI::App& app, const std::string& name, std::size_t& target,
                              const NumberRange<std::uint64_t>& range, const std::string& help,
                              const std::string& word = {}) {
  const std::string usual = range.holds(target) ? bytes_text(target) : target == 0 ? word : std::string();
  const auto set = [&target, range, word](const std::string& text) {
    target = !word.empty() && text == word ? 0 : parse_bytes(text, range);
  };
  return parts::add(app, name, "BYTES", usual, fmt::format("{} {}", help, bytes_text(range)), set);
}

/// Sizes in bytes, joined by commas, at least one.
inline CLI::Option* add_bytes_list(CLI::App& app, const std::string& name, std::vector<std::size_t>& target,
                                   const NumberRange<std::uint64_t>& range, const std::string& help) {
  const auto set = [&target, range](const std::string& text) {
    target.clear();
    parts::for_each_part(text, ',', [&](const std::string& part) { target.push_back(parse_bytes(part, range)); });
  };
  return parts::add(app, name, "BYTES,...", parts::joined(target, ','), fmt::format("{} {}", help, bytes_text(range)),
                    set);
}

/// One of several words, each of which stands for a value.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        const std::vector<std::pair<std::string, T>>& choices, const std::string& help) {
  std::string words;
  std::string usual;
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : ", ") + word;
    if (value == target) usual = word;
  }
  const auto set = [&target, choices, words](const std::string& text) {
    for (const auto& [word, value] : choices) {
      if (word != text) continue;
      target = value;
      return;
    }
    throw std::invalid_argument(fmt::format("'{}' is none of {}", text, words));
  };
  return parts::add(app, name, "WORD", usual, fmt::format("{} {{{}}}", help, words), set);
}

/// One of several words.
inline CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& target,
                               const std::vector<std::string>& choices, const std::string& help) {
  std::vector<std::pair<std::string, std::string>> same;
  for (const std::string& word : choices) same.emplace_back(word, word);
  return add_choice(app, name, target, same, help);
}

/// Words joined by commas, at least one. The program checks them: which there are may depend on other options.
inline CLI::Option* add_words(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                              const std::string& help) {
  const auto set = [&target](const std::string& text) {
    target = split(text, ',');
    if (std::any_of(target.begin(), target.end(), [](const std::string& word) { return word.empty(); }))
      throw std::invalid_argument(fmt::format("'{}' has an empty word; join words by single commas", text));
  };
  return parts::add(app, name, "WORD,...", parts::joined(target, ','), help, set);
}

/// A text: a name, FILE or FOLDER, as `type` says.
inline CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target, const char* type,
                             const std::string& help) {
  return parts::add(app, name, type, target, help, [&target](const std::string& text) { target = text; });
}

inline CLI::Option* add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
  return app.add_flag(name, target, help);
}

}  // namespace tutti::command_line
