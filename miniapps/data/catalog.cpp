// SPDX-License-Identifier: BSD-3-Clause
#include "catalog.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "common/agree.hpp"
#include "common/show/text_file.hpp"

namespace tutti::data {

namespace {

namespace fs = std::filesystem;

void bcast_numbers(const Communicator& comm, std::vector<std::uint64_t>& numbers) {
  std::uint64_t count = numbers.size();
  bcast(comm, Buffer(&count, 1), 0);
  numbers.resize(count);
  bcast(comm, numbers, 0);
}

/// File, samples, and ids and lookups of each table, of every part.
std::vector<std::uint64_t> read_facts(const Workspace& workspace, std::uint64_t files) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t file = 0; file < files; ++file) {
    bool is_last = false;
    for (std::uint64_t piece = 0; !is_last; ++piece) {
      const PartFacts facts = PartFile(workspace.part(file, piece)).facts();
      is_last = facts.is_last;
      numbers.insert(numbers.end(), {file, piece, facts.samples});
      numbers.insert(numbers.end(), facts.ids.begin(), facts.ids.end());
      numbers.insert(numbers.end(), facts.lookups.begin(), facts.lookups.end());
    }
  }
  return numbers;
}

}  // namespace

std::string file_identity(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(ErrorCode::io, path.string() + ": cannot be read; copy it again");
  }
  return fmt::format("{} {} {}\n", path.string(), info.st_size,
                     info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
}

Workspace::Workspace(const Communicator& comm, const fs::path& prefix, const std::string& description)
    : folder_(prefix.string() + ".parts") {
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      hold(description);
    }
  });
}

Workspace::~Workspace() {
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

void Workspace::hold(const std::string& description) {
  std::error_code error;
  fs::create_directories(folder_, error);
  lock_ = ::open((folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    throw Error(ErrorCode::io, folder_.string() + ": cannot be written; name another output");
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw Error(ErrorCode::io, folder_.string() + ": another tutti-data works on it; wait for its end");
  }
  const fs::path what = folder_ / "description";
  if (fs::exists(what) && miniapps::read_text(what) == description) {
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename() != "lock") {
      fs::remove(entry.path());
    }
  }
  miniapps::write_text(what, description);
}

fs::path Workspace::part(std::uint64_t file, std::uint64_t piece) const {
  return folder_ / fmt::format("part-{:05}-{:08}", file, piece);
}

void Workspace::remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::uint64_t Catalog::samples() const { return first_samples().back(); }

std::vector<std::uint64_t> Catalog::first_samples() const {
  std::vector<std::uint64_t> first{0};
  for (const PartFacts& part : parts) {
    first.push_back(first.back() + part.samples);
  }
  return first;
}

std::vector<std::uint64_t> Catalog::before(std::vector<std::uint64_t> PartFacts::*what, std::size_t table) const {
  std::vector<std::uint64_t> sums{0};
  for (const PartFacts& part : parts) {
    sums.push_back(sums.back() + (part.*what)[table]);
  }
  return sums;
}

Catalog read_catalog(const Communicator& comm, const Workspace& workspace, std::uint64_t files, std::size_t tables) {
  std::vector<std::uint64_t> numbers;
  miniapps::run_agreed(comm, [&] {
    if (comm.rank() == 0) {
      numbers = read_facts(workspace, files);
    }
  });
  bcast_numbers(comm, numbers);
  Catalog catalog;
  const std::size_t width = 3 + 2 * tables;
  for (auto at = numbers.begin(); at != numbers.end(); at += static_cast<std::ptrdiff_t>(width)) {
    const auto ids = at + 3;
    const auto lookups = ids + static_cast<std::ptrdiff_t>(tables);
    catalog.files.push_back(at[0]);
    catalog.paths.push_back(workspace.part(at[0], at[1]));
    catalog.parts.push_back({at[2], false, {ids, lookups}, {lookups, lookups + static_cast<std::ptrdiff_t>(tables)}});
  }
  return catalog;
}

void for_each_part(const Communicator& comm, const Catalog& catalog,
                   const std::function<void(const PartFile*, std::size_t)>& use) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (std::size_t first = 0; first < catalog.paths.size(); first += ranks) {
    const std::size_t mine = first + static_cast<std::size_t>(comm.rank());
    std::optional<PartFile> part;
    miniapps::run_agreed(comm, [&] {
      if (mine < catalog.paths.size()) {
        part.emplace(catalog.paths[mine]);
      }
    });
    use(part ? &*part : nullptr, mine);
  }
}

}  // namespace tutti::data
