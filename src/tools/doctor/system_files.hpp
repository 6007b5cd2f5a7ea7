// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/facts.hpp"

/// What the kernel says in small text files. Functions of text are pure; the others read one file.
namespace tutti::tools::doctor {

/// The first line of a file, without the end of the line; empty if it cannot be read.
[[nodiscard]] std::string first_line(const std::string& path);
/// The whole text of a file; empty if it cannot be read.
[[nodiscard]] std::string whole_text(const std::string& path);
/// The text behind "NAME:" in /proc/self/status, without blanks around it.
[[nodiscard]] std::string field_of(std::string_view status, std::string_view name);
/// The word in brackets: "madvise" in "always [madvise] never".
[[nodiscard]] std::string bracketed(std::string_view line);
/// The numbers of a list of the kernel: "0-2,8" gives 0, 1, 2 and 8.
[[nodiscard]] std::vector<int> numbers_in(std::string_view list);
/// A number, or unlimited for "max", -1, an absent file and numbers that version 1 writes for "no limit".
[[nodiscard]] std::uint64_t limit_in(std::string_view line);

/// One line of /proc/self/cgroup: the controllers (empty: version 2) and the path of the group.
struct GroupLine {
  std::vector<std::string> controllers{};
  std::string path{};
};
[[nodiscard]] std::vector<GroupLine> group_lines(std::string_view text);
/// The folders of a group and of all groups above it below a mount point, the group's own first.
[[nodiscard]] std::vector<std::string> group_folders(const std::string& mount, const std::string& path);
/// Adds the limits of all control groups of this process.
void add_group_limits(Limits& limits);

}  // namespace tutti::tools::doctor
