// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/snapshot.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <numeric>
#include <system_error>

#include "diagnosis/format.hpp"
#include "diagnosis/recorder_memory.hpp"

namespace tutti::detail::flight {
namespace {

namespace fs = std::filesystem;

/// The number of a folder of /proc that stands for a process; 0 if it does not.
int process_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? number : 0;
}

/// The descriptors of a process that are recorders' memory.
std::vector<std::string> descriptors_of(const fs::path& process) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator files(process / "fd", error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(files->path(), unreadable).string();
    if (target.find(RecorderMemory::file_name) != std::string::npos) found.push_back(files->path().string());
  }
  return found;
}

bool is_older(const Snapshot& a, const Snapshot& b) {
  return std::pair(a.world_rank, a.process) < std::pair(b.world_rank, b.process);
}

/// The names of what a process has in common with the others of its job.
std::vector<std::uint64_t> ties_of(const Snapshot& snapshot) {
  std::vector<std::uint64_t> ties;
  if (snapshot.job != 0) ties.push_back(snapshot.job);
  for (const SeenCommunicator& communicator : snapshot.communicators)
    if (communicator.mark != 0) ties.push_back(communicator.mark);
  return ties;
}

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

std::vector<Snapshot> find_recorders() {
  std::map<std::pair<std::string, int>, Snapshot> found;  // by host and process
  std::error_code error;
  fs::directory_iterator processes("/proc", error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const int process = process_of(processes->path());
    if (process == 0) continue;
    for (const std::string& path : descriptors_of(processes->path())) {
      std::string problem;
      auto snapshot = read_snapshot(path, problem);
      if (!snapshot) continue;
      const bool is_own = snapshot->process == process;
      const auto key = std::pair(snapshot->host, snapshot->process);
      const auto known = found.find(key);
      snapshot->is_alive = is_own || (known != found.end() && known->second.is_alive);
      found.insert_or_assign(key, std::move(*snapshot));
    }
  }
  std::vector<Snapshot> all;
  for (auto& [key, snapshot] : found) all.push_back(std::move(snapshot));
  return all;
}

std::vector<Snapshot> read_recorders(const std::string& path, std::vector<std::string>& problems) {
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error))
      if (entry->path().filename().string().starts_with(RecorderMemory::file_name))
        files.push_back(entry->path().string());
    if (files.empty()) problems.push_back(path + " has no flight recorders");
  } else {
    files.push_back(path);
  }
  const std::string host = host_name();
  std::vector<Snapshot> all;
  for (const std::string& file : files) {
    std::string problem;
    auto snapshot = read_snapshot(file, problem);
    if (!snapshot) {
      problems.push_back(file + ": " + problem);
      continue;
    }
    snapshot->is_alive = snapshot->host == host && fs::exists("/proc/" + std::to_string(snapshot->process), error);
    all.push_back(std::move(*snapshot));
  }
  return all;
}

std::vector<Job> jobs_of(std::vector<Snapshot> snapshots) {
  std::sort(snapshots.begin(), snapshots.end(), is_older);
  std::vector<std::size_t> parent(snapshots.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  std::map<std::uint64_t, std::size_t> first;  // who has a tie
  for (std::size_t i = 0; i < snapshots.size(); ++i)
    for (const std::uint64_t tie : ties_of(snapshots[i]))
      parent[root_of(parent, i)] = root_of(parent, first.try_emplace(tie, i).first->second);
  std::map<std::size_t, Job> jobs;
  for (std::size_t i = 0; i < snapshots.size(); ++i) jobs[root_of(parent, i)].push_back(std::move(snapshots[i]));
  std::vector<Job> all;
  for (auto& [root, job] : jobs) all.push_back(std::move(job));
  return all;
}

}  // namespace tutti::detail::flight
