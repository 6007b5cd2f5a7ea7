// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

/// Where a program that keeps its last checkpoints puts them: one alone in the folder itself, several in the folders
/// step-0000000100, step-0000000200 and so on below it.
namespace tutti::miniapps {

/// The folder of the checkpoint of step `step`.
[[nodiscard]] std::filesystem::path checkpoint_folder(const std::filesystem::path& folder, std::uint64_t step,
                                                      std::uint64_t keep);

/// The folder to load from: the one of the highest step below `folder`, or `folder` itself if there is none. Local.
[[nodiscard]] std::filesystem::path newest_checkpoint(const std::filesystem::path& folder);

/// Removes all checkpoints but `saved` and the `keep` - 1 of the highest steps below its step. Those of higher steps
/// are of a run that was given up. One rank calls it, after the commit of `saved`.
void remove_old_checkpoints(const std::filesystem::path& folder, const std::filesystem::path& saved,
                            std::uint64_t keep);

/// Throws Error(io) if the checkpoint that --load has named is of another `of`, which is described by other values.
void check_same(const nlohmann::json& saved, const nlohmann::json& wanted, const std::string& load,
                const std::string& of, const std::string& remedy = {});

}  // namespace tutti::miniapps
