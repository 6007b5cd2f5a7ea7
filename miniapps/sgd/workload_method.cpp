// SPDX-License-Identifier: BSD-3-Clause
#include "workload_method.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <tutti/error.hpp>

namespace sgd {

namespace {

template <std::size_t N>
bool one_of(std::string_view value, const std::array<std::string_view, N>& choices) {
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

Method parse_method(const std::string& flag, const std::string& text, const Method& base) {
  constexpr std::array<std::string_view, 5> modes{"none", "naive", "flat", "bucketed", "overlap"};
  constexpr std::array<std::string_view, 4> hooks{"none", "bf16", "fp16", "powersgd"};
  Method method = base;
  method.name = text;
  method.hook = "none";
  if (text.starts_with("hook=")) {
    method.mode = "overlap";
    method.hook = text.substr(5);
  } else {
    method.mode = text;
    if (method.has_buckets()) {
      method.hook = base.hook;
      method.name += base.hook == "none" ? "" : "+" + base.hook;
    }
  }
  if (!one_of(method.mode, modes) || !one_of(method.hook, hooks)) {
    throw tutti::Error(
        tutti::ErrorCode::invalid_argument,
        flag + ": '" + text + "' is none of none, naive, flat, bucketed, overlap, hook=bf16, hook=fp16, hook=powersgd");
  }
  return method;
}

}  // namespace

std::vector<Method> parse_methods(const std::string& flag, std::string_view text, const Method& base) {
  std::vector<Method> methods;
  std::stringstream stream{std::string(text)};
  std::string part;
  while (std::getline(stream, part, ',')) {
    methods.push_back(parse_method(flag, part, base));
  }
  const auto none = std::find_if(methods.begin(), methods.end(), [](const Method& m) { return m.mode == "none"; });
  if (none == methods.end()) {
    methods.insert(methods.begin(), parse_method(flag, "none", base));
  } else {
    std::rotate(methods.begin(), none, none + 1);
  }
  return methods;
}

}  // namespace sgd
