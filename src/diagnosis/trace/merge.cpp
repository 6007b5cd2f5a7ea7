// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/merge.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/draft.hpp"
#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {
namespace {

namespace fs = std::filesystem;

struct Found {
  std::string path{};
  PartHeader header{};
};

/// The files whose name is that of the trace, with something appended.
std::vector<Found> parts_beside(const std::string& file) {
  const fs::path whole(file);
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  const std::string begin = whole.filename().string() + '.';
  std::vector<Found> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), last; !error && entry != last; entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!entry->path().filename().string().starts_with(begin)) continue;
    if (const auto header = read_header(path)) found.push_back({path, *header});
  }
  return found;
}

/// Ranks that have not met know no common number, but they began together.
bool belongs(const PartHeader& header, const PartHeader& newest) {
  constexpr std::uint64_t together = 60'000'000'000;  // nanoseconds in which the processes of a job begin
  const std::uint64_t one = header.opened.realtime;
  const std::uint64_t other = newest.opened.realtime;
  const bool is_of_size = header.world_size == newest.world_size || header.world_size == 0 || newest.world_size == 0;
  return header.job == newest.job || (is_of_size && std::max(one, other) - std::min(one, other) < together);
}

/// By rank, so that the first one gives the time.
void sort_by_rank(std::vector<Part>& parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    const auto key = [](const Part& part) {
      return std::pair(static_cast<std::uint32_t>(part.header.world_rank), part.header.process);
    };
    return key(a) < key(b);
  });
}

std::string write(const std::vector<Part>& parts, const std::string& clocks, const std::string& file) {
  Draft draft(file);
  const int own = draft.valid() ? fcntl(draft.get(), F_DUPFD_CLOEXEC, 0) : -1;
  std::FILE* out = own < 0 ? nullptr : fdopen(own, "w");
  bool is_whole = out != nullptr;
  if (is_whole) {
    write_json(out, parts, clocks);
    is_whole = std::ferror(out) == 0;
    is_whole = std::fclose(out) == 0 && is_whole;
  }
  if (is_whole && draft.publish()) return {};
  return fmt::format("{} cannot be written: {}", file, std::strerror(errno));
}

}  // namespace

std::vector<std::string> find_parts(const std::string& file, std::vector<std::string>& problems) {
  const std::vector<Found> found = parts_beside(file);
  const auto newest = std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.header.opened.realtime < b.header.opened.realtime;
  });
  std::vector<std::string> paths;
  for (const Found& one : found)
    if (belongs(one.header, newest->header))
      paths.push_back(one.path);
    else
      problems.push_back(one.path + ": a part of another job");
  return paths;
}

std::string merge(const std::vector<std::string>& paths, const std::string& file, std::vector<std::string>& lines) {
  std::vector<Part> parts;
  for (const std::string& path : paths) {
    std::string problem;
    if (auto part = read_part(path, problem))
      parts.push_back(std::move(*part));
    else
      lines.push_back(fmt::format("{}: {}", path, problem));
  }
  if (parts.empty()) return file + ": there is no part of a trace";
  sort_by_rank(parts);
  const std::string clocks = align(parts);
  find_waits(parts);
  return write(parts, clocks, file);
}

}  // namespace tutti::detail::trace
