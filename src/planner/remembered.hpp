// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/format.hpp"

namespace tutti::detail::tuning {

/// The tables of a file, and the text of each as a separate document.
class TableTexts {
 public:
  explicit TableTexts(std::vector<Section> sections) : sections_(std::move(sections)), texts_(sections_.size()) {}
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }
  [[nodiscard]] const std::string& text(std::size_t section);

 private:
  std::vector<Section> sections_;
  std::vector<std::string> texts_;  ///< made at the first request
  std::mutex mutex_;
};

/// Reads and checks a file, unless it has not changed since this process last read it. Returns nothing if the file does
/// not exist; throws as read_file and parse do. Any thread.
[[nodiscard]] std::shared_ptr<TableTexts> tables_in(const std::filesystem::path& path);

/// The table of a document with one section; equal consecutive texts give the same table. Any thread.
[[nodiscard]] std::shared_ptr<const Table> table_of(std::string_view text);

}  // namespace tutti::detail::tuning
