// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_folders.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::miniapps {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "step-";
constexpr std::size_t step_digits = 10;

/// The folders of checkpoints of steps, in descending order. Only whole checkpoints have a manifest.
std::vector<fs::path> step_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && fs::exists(entry.path() / "manifest", error)) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

bool is_part_of_checkpoint(const std::string& name) { return name == "manifest" || name.starts_with("part-"); }

}  // namespace

fs::path checkpoint_folder(const fs::path& folder, std::uint64_t step, std::uint64_t keep) {
  if (keep <= 1) {
    return folder;
  }
  const std::string number = std::to_string(step);
  return folder / (prefix + std::string(step_digits - std::min(step_digits, number.size()), '0') + number);
}

fs::path newest_checkpoint(const fs::path& folder) {
  const auto steps = step_folders(folder);
  return steps.empty() ? folder : steps.front();
}

void remove_old_checkpoints(const fs::path& folder, const fs::path& saved, std::uint64_t keep) {
  std::error_code ignored;
  std::uint64_t kept = 1;
  for (const fs::path& step : step_folders(folder)) {
    if (step == saved) {
      continue;
    }
    if (saved != folder && step < saved && kept < keep) {
      ++kept;
      continue;
    }
    fs::remove_all(step, ignored);
  }
  if (saved == folder || kept < keep) {
    return;
  }
  // A checkpoint in the folder itself is older than all of steps.
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_part_of_checkpoint(entry.path().filename().string())) {
      fs::remove(entry.path(), ignored);
    }
  }
}

void check_same(const nlohmann::json& saved, const nlohmann::json& wanted, const std::string& load,
                const std::string& of, const std::string& remedy) {
  for (const auto& [key, value] : wanted.items()) {
    const nlohmann::json before = saved.value(key, nlohmann::json());
    if (before != value) {
      throw Error(ErrorCode::io, "--load=" + load + ": the checkpoint is of another " + of + ": " + key + " is " +
                                     before.dump() + ", not " + value.dump() + remedy);
    }
  }
}

}  // namespace tutti::miniapps
