// SPDX-License-Identifier: BSD-3-Clause
#include "replay/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace tutti::commbench::replay {
namespace {

using nlohmann::json;

/// A value as messages show it.
std::string shown(const json& value) {
  constexpr std::size_t most = 40;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

bool is_whole(const json& value) { return value.is_number_integer(); }
bool is_count(const json& value) { return value.is_number_unsigned(); }

}  // namespace

void TraceFile::check_readable() const {
  std::error_code error;
  const bool is_open = std::ifstream(path_, std::ios::binary).good();
  const int reason = errno;
  if (is_open && !std::filesystem::is_directory(path_, error)) return;
  throw std::invalid_argument(
      fmt::format("{}: cannot be read: {}; name a trace", path_, is_open ? "it is a folder" : std::strerror(reason)));
}

std::string TraceFile::begin() const {
  constexpr std::size_t most = std::size_t{1} << 16U;
  std::string text(most, '\0');
  std::ifstream file(path_, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

void TraceFile::fail(const std::string& problem) const {
  throw std::invalid_argument(fmt::format("{}, {}: {}", path_, place(), problem));
}

JsonFile::JsonFile(const std::string& path) : TraceFile(path), file_(path, std::ios::binary) { check_readable(); }

std::size_t JsonFile::line_of(std::streamoff offset) const {
  std::ifstream file(path(), std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20U);
  std::size_t line = 1;
  while (offset > 0 && file) {
    file.read(piece.data(), std::min<std::streamoff>(offset, static_cast<std::streamoff>(piece.size())));
    line += static_cast<std::size_t>(std::count(piece.begin(), piece.begin() + file.gcount(), '\n'));
    offset -= file.gcount();
  }
  return line;
}

std::string JsonFile::place() const { return fmt::format("line {} (byte {})", line_of(read_), read_); }

void JsonFile::read(int wanted_depth, const std::function<void(int depth, const json& object)>& take) {
  const auto look = [&](int depth, json::parse_event_t event, json& value) {
    if (event != json::parse_event_t::object_end) return true;
    if (depth > wanted_depth) return true;
    read_ = file_.tellg();
    take(depth, value);
    return depth < wanted_depth;
  };
  try {
    [[maybe_unused]] const json rest = json::parse(file_, look);
  } catch (const json::parse_error& error) {
    read_ = static_cast<std::streamoff>(error.byte);
    fail("the text is no JSON from here on; is the file whole?");
  } catch (const json::exception& error) {
    fail(fmt::format("a value is none of this format: {}", error.what()));
  }
}

void Record::fail(const char* field, std::string_view wanted) const {
  if (!has(field)) fail(fmt::format("'{}' is missing; it must be {}", field, wanted));
  fail(fmt::format("'{}' is {}; it must be {}", field, shown((*object_)[field]), wanted));
}

template <typename T>
T Record::get(const char* field, std::string_view wanted) const {
  try {
    return object_->at(field).get<T>();
  } catch (const json::exception&) {
    fail(field, wanted);
  }
}

bool Record::has(const char* field) const {
  const auto found = object_->find(field);
  return found != object_->end() && !found->is_null();
}

std::string Record::text(const char* field) const { return get<std::string>(field, "a text"); }
std::string Record::text(const char* field, const std::string& otherwise) const {
  return has(field) ? text(field) : otherwise;
}

std::int64_t Record::number(const char* field) const {
  if (!has(field) || !is_whole((*object_)[field])) fail(field, "a whole number");
  return get<std::int64_t>(field, "a whole number");
}
std::int64_t Record::number(const char* field, std::int64_t otherwise) const {
  return has(field) ? number(field) : otherwise;
}

std::size_t Record::count(const char* field) const {
  if (!has(field) || !is_count((*object_)[field])) fail(field, "a whole number that is not negative");
  return get<std::size_t>(field, "a whole number");
}

double Record::seconds(const char* field, double unit) const { return unit * get<double>(field, "a number"); }

std::vector<std::size_t> Record::counts(const char* field) const {
  constexpr std::string_view wanted = "a list of whole numbers that are not negative";
  const bool is_list = has(field) && (*object_)[field].is_array();
  if (!is_list || !std::all_of((*object_)[field].begin(), (*object_)[field].end(), is_count)) fail(field, wanted);
  return get<std::vector<std::size_t>>(field, wanted);
}

std::vector<int> Record::ranks(const char* field) const {
  constexpr std::string_view wanted = "a list of ranks";
  const bool is_list = has(field) && (*object_)[field].is_array();
  if (!is_list || !std::all_of((*object_)[field].begin(), (*object_)[field].end(), is_whole)) fail(field, wanted);
  return get<std::vector<int>>(field, wanted);
}

Record Record::object(const char* field) const {
  if (!has(field) || !(*object_)[field].is_object()) fail(field, "an object");
  return {*file_, (*object_)[field]};
}

std::vector<Record> Record::objects(const char* field) const {
  if (!has(field) || !(*object_)[field].is_array()) fail(field, "a list of objects");
  std::vector<Record> all;
  for (const nlohmann::json& one : (*object_)[field]) {
    if (!one.is_object()) fail(field, "a list of objects");
    all.emplace_back(*file_, one);
  }
  return all;
}

}  // namespace tutti::commbench::replay
