// SPDX-License-Identifier: BSD-3-Clause
#include "replay/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "replay/formats.hpp"
#include "replay/records.hpp"

namespace tutti::commbench::replay {
namespace {

namespace fs = std::filesystem;

enum class Format : std::uint8_t { tutti, param, execution_trace, kineto, chakra };

[[noreturn]] void refuse(const std::string& path, std::string_view problem) {
  throw std::invalid_argument(fmt::format("{}: {}", path, problem));
}

/// JSON has no other characters below the blank.
bool is_text(std::string_view begin) {
  return std::none_of(begin.begin(), begin.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r' && c != '\n';
  });
}

/// What stands in the place of a trace now and then.
void refuse_known(const std::string& path, std::string_view begin) {
  if (begin.starts_with("tuttrace"))
    refuse(path, "is one rank's part of a trace; put the parts together with `tutti trace merge`");
  if (begin.starts_with("tutflght"))
    refuse(path,
           "is a flight record, which has the last calls only, and not their counts; run the program with "
           "TUTTI_TRACE=trace.json and replay that file");
  if (begin.starts_with("\x1f\x8b")) refuse(path, "is packed by gzip; unpack it by gunzip first");
}

Format format_of(const std::string& path, std::string begin) {
  constexpr const char* formats =
      "is no trace: pass one of TUTTI_TRACE, PARAM, PyTorch's execution trace observer or profiler, or Chakra";
  refuse_known(path, begin);
  if (!is_text(begin) && is_chakra_trace(path)) return Format::chakra;
  begin.erase(0, std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  const auto has = [&](std::string_view text) { return begin.find(text) != std::string::npos; };
  if (begin.starts_with('[')) return Format::param;
  if (!begin.starts_with('{')) refuse(path, formats);
  if (has(R"("writer":"tutti trace")")) return Format::tutti;
  return has(R"("schema")") ? Format::execution_trace : Format::kineto;
}

/// The last number in a text.
std::optional<int> last_number(std::string_view text) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto last = std::find_if(text.rbegin(), text.rend(), is_digit);
  const auto first = std::find_if_not(last, text.rend(), is_digit);
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + (text.rend() - first), text.data() + (text.rend() - last), number);
  return error == std::errc{} ? std::optional<int>(number) : std::nullopt;
}

/// Of Chakra's files, which have the rank before it: "trace.3.et".
constexpr const char* chakra_ending = ".et";

/// The rank that a profiler wrote into its file; else the last number in the file's name, before its endings.
int rank_of(const std::string& path) {
  const std::string begin = JsonFile(path).begin();
  if (const auto info = begin.find(R"("distributedInfo")"); info != std::string::npos) {
    const std::string part = begin.substr(info, begin.find('}', info) - info);
    if (const auto at = part.find(R"("rank":)"); at != std::string::npos)
      if (const auto rank = last_number(part.substr(at, part.find_first_of(",}", at) - at))) return *rank;
  }
  const std::string name = fs::path(path).filename().string();
  const std::size_t end = fs::path(path).extension() == chakra_ending ? name.rfind('.') : name.find('.');
  if (const auto rank = last_number(name.substr(0, end))) return *rank;
  refuse(path, "which rank wrote it? End its name with the number of the rank, as in trace_3.json");
}

std::vector<std::string> files_in(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (fs::directory_iterator entry(path, error), last; !error && entry != last; entry.increment(error))
      if (entry->path().extension() == ".json" || entry->path().extension() == chakra_ending)
        files.push_back(entry->path().string());
    if (files.empty()) refuse(path, "the folder has no file that ends with .json or .et");
  }
  return files;
}

/// The file of a rank.
std::string file_of(const std::vector<std::string>& files, int rank) {
  if (files.size() == 1) return files.front();
  for (const std::string& file : files)
    if (rank_of(file) == rank) return file;
  throw std::invalid_argument(
      fmt::format("none of the {} files is that of rank {}; pass the files of all ranks", files.size(), rank));
}

/// What is left of a list of one entry a rank.
std::vector<std::size_t> kept(const std::vector<std::size_t>& counts, const std::vector<int>& places) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (places[i] >= 0) left.push_back(counts[i]);
  return left;
}

/// places: the new rank for each old one, -1 where it is gone.
void shrink_call(Exchange& exchange, const std::vector<int>& places, int left) {
  exchange.send_counts = kept(exchange.send_counts, places);
  exchange.recv_counts = kept(exchange.recv_counts, places);
  const int root = places.at(static_cast<std::size_t>(exchange.root));
  exchange.root = root >= 0 ? root : exchange.root % left;
  std::erase_if(exchange.messages,
                [&](const Message& one) { return places.at(static_cast<std::size_t>(one.peer)) < 0; });
  for (Message& one : exchange.messages) one.peer = places.at(static_cast<std::size_t>(one.peer));
}

}  // namespace

Recording read_recording(const std::vector<std::string>& paths, int rank, int ranks) {
  const std::vector<std::string> files = files_in(paths);
  JsonFile file(file_of(files, rank));
  switch (format_of(file.path(), file.begin())) {
    case Format::tutti:
      if (files.size() > 1) refuse(file.path(), "has all ranks; pass it alone");
      return read_tutti_trace(file, rank);
    case Format::param:
      return read_param_trace(file, rank, ranks);
    case Format::execution_trace:
      return read_execution_trace(file, rank, ranks);
    case Format::chakra:
      return read_chakra_trace(file.path(), rank, ranks);
    case Format::kineto:
      break;
  }
  return read_kineto_trace(file, rank, ranks);
}

void shrink(Recording& recording, int rank, int ranks) {
  std::vector<std::vector<int>> places;
  for (Group& group : recording.groups) {
    std::vector<int> left;
    auto& of_group = places.emplace_back();
    for (const int member : group.world_ranks) {
      const bool stays = member >= 0 && member < ranks;
      of_group.push_back(stays ? static_cast<int>(left.size()) : -1);
      if (stays) left.push_back(member);
    }
    group.world_ranks = std::move(left);
  }
  for (auto* calls : {&recording.calls, &recording.made})
    for (RecordedCall& call : *calls) {
      const auto& members = recording.groups[call.group].world_ranks;
      if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
      shrink_call(call.exchange, places[call.group], static_cast<int>(members.size()));
    }
  recording.ranks = ranks;
}

}  // namespace tutti::commbench::replay
