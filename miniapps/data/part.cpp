// SPDX-License-Identifier: BSD-3-Clause
#include "part.hpp"

#include <string>
#include <tutti/error.hpp>

#include "common/data/draft_file.hpp"

namespace tutti::data {

namespace {

using miniapps::IdEntry;
using miniapps::IdTable;

constexpr std::uint64_t part_magic = 0x3174726170747574;  // "tutpart1"
constexpr std::size_t fixed_words = 5;
constexpr std::size_t table_words = 3;

/// The different ids in order of first appearance; `column` then holds places in this list.
std::vector<std::uint32_t> take_ids(std::vector<std::uint32_t>& column, IdTable& table) {
  constexpr std::size_t ahead = 8;
  std::vector<std::uint32_t> list;
  table.clear();
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (i + ahead < column.size()) {
      table.prefetch(column[i + ahead]);
    }
    IdEntry& entry = table.find_or_add(column[i]);
    if (entry.count++ == 0) {
      entry.value = static_cast<std::uint32_t>(list.size());
      list.push_back(column[i]);
    }
    column[i] = entry.value;
  }
  return list;
}

std::vector<std::uint32_t> take_counts(const IdTable& table) {
  std::vector<std::uint32_t> counts(table.size());
  for (const IdEntry& entry : table.entries()) {
    if (entry.count > 0) {
      counts[entry.value] = entry.count;
    }
  }
  return counts;
}

template <typename T>
void append(miniapps::DraftFile& file, const std::vector<T>& values) {
  file.append(std::as_bytes(std::span(values)));
}

/// Takes `count` numbers from the front of a content.
template <typename T>
std::span<const T> take(std::string_view& content, std::uint64_t count, const std::filesystem::path& path) {
  if (count > content.size() / sizeof(T)) {
    throw Error(ErrorCode::io, path.string() + ": is not whole; remove its folder, so that its text is parsed again");
  }
  const auto* first = reinterpret_cast<const T*>(content.data());
  content.remove_prefix(count * sizeof(T));
  return {first, static_cast<std::size_t>(count)};
}

}  // namespace

void PartWriter::write(const std::filesystem::path& path, Samples& samples, bool is_last) {
  std::vector<std::uint64_t> header{part_magic, samples.labels.size(), is_last ? 1U : 0U, samples.dense.size(),
                                    samples.ids.size()};
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::size_t t = 0; t < samples.ids.size(); ++t) {
    lists.push_back(take_ids(samples.ids[t], tables_[t]));
    header.insert(header.end(), {lists[t].size(), samples.ids[t].size(), samples.lengths[t].size()});
  }
  miniapps::DraftFile file(path);
  append(file, header);
  for (std::size_t t = 0; t < lists.size(); ++t) {
    append(file, lists[t]);
    append(file, take_counts(tables_[t]));
    append(file, samples.ids[t]);
    append(file, samples.lengths[t]);
  }
  append(file, samples.labels);
  for (const auto& column : samples.dense) {
    append(file, column);
  }
  file.commit(false);
}

PartFile::PartFile(const std::filesystem::path& path) : file_(path) {
  std::string_view content = file_.content();
  const auto fixed = take<std::uint64_t>(content, fixed_words, path);
  if (fixed[0] != part_magic) {
    throw Error(ErrorCode::io, path.string() + ": is no part of tutti-data; remove its folder");
  }
  facts_.samples = fixed[1];
  facts_.is_last = fixed[2] != 0;
  const auto tables = take<std::uint64_t>(content, table_words * fixed[4], path);
  for (std::size_t t = 0; t < fixed[4]; ++t) {
    facts_.ids.push_back(tables[table_words * t]);
    facts_.lookups.push_back(tables[table_words * t + 1]);
    lists_.push_back(take<std::uint32_t>(content, facts_.ids[t], path));
    counts_.push_back(take<std::uint32_t>(content, facts_.ids[t], path));
    places_.push_back(take<std::uint32_t>(content, facts_.lookups[t], path));
    lengths_.push_back(take<std::uint32_t>(content, tables[table_words * t + 2], path));
  }
  labels_ = take<std::int32_t>(content, facts_.samples, path);
  for (std::size_t j = 0; j < fixed[3]; ++j) {
    dense_.push_back(take<std::int32_t>(content, facts_.samples, path));
  }
}

}  // namespace tutti::data
