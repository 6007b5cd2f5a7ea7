// SPDX-License-Identifier: BSD-3-Clause
#include "tools/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "planner/files.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;

/// Broadcasts the text of rank 0.
std::string broadcast(const Communicator& comm, std::string text) {
  std::size_t length = text.size();
  bcast(comm, Buffer(&length, 1), 0);
  text.resize(length);
  bcast(comm, Buffer(text.data(), text.size()), 0);
  return text;
}

/// Runs something on rank 0. If it fails, all ranks throw.
template <typename Work>
void on_root(const Communicator& comm, const Work& work) {
  std::string failure;
  if (comm.rank() == 0) try {
      work();
    } catch (const std::exception& e) {
      failure = e.what();
      if (failure.empty()) failure = "unknown";
    }
  failure = broadcast(comm, std::move(failure));
  if (!failure.empty()) throw UsageError(failure);
}

}  // namespace

TableFile::TableFile(const Communicator& comm, std::filesystem::path path, bool restart)
    : comm_(comm), path_(std::move(path)) {
  on_root(comm, [&] { read(restart); });
  // All ranks skip the same cells and have the same key.
  std::string text;
  if (comm.rank() == 0) text = tuning::print({mine_});
  mine_ = tuning::parse(broadcast(comm, std::move(text))).at(0);
}

void TableFile::read(bool restart) {
  mine_.key = tuning::key_of(comm_.topology());
  try {
    if (const auto text = tuning::read_file(path_)) take_over(tuning::parse(*text), restart);
  } catch (const Error& e) {
    if (!restart)
      throw Error(ErrorCode::io, fmt::format("{} cannot be continued: {}; pass --restart to replace it, or another "
                                             "--output",
                                             path_.string(), e.what()));
  }
  // Find out before measuring whether the file can be written.
  write();
}

void TableFile::take_over(std::vector<tuning::Section> sections, bool others_only) {
  others_.clear();
  for (tuning::Section& section : sections) {
    if (!(section.key == mine_.key)) {
      others_.push_back(std::move(section));
    } else if (!others_only) {
      mine_.cells = std::move(section.cells);
      mine_.links = section.links;
    }
  }
}

void TableFile::write() {
  std::vector<tuning::Section> all = others_;
  all.push_back(mine_);
  tuning::write_file(path_, tuning::print(all));
}

const tuning::Cell* TableFile::find(const tuning::Cell& place) const {
  const auto found = std::find_if(mine_.cells.begin(), mine_.cells.end(),
                                  [&](const tuning::Cell& cell) { return is_same_place(cell, place); });
  return found == mine_.cells.end() ? nullptr : &*found;
}

void TableFile::put(tuning::Cell cell) {
  const auto old = std::find_if(mine_.cells.begin(), mine_.cells.end(),
                                [&](const tuning::Cell& other) { return is_same_place(other, cell); });
  if (old != mine_.cells.end()) mine_.cells.erase(old);
  mine_.cells.push_back(std::move(cell));
  write_beside_others();
}

void TableFile::put(const detail::Links& links) {
  mine_.links = links;
  write_beside_others();
}

void TableFile::write_beside_others() {
  on_root(comm_, [&] {
    // Another run may have added to the tables of other numbers of ranks.
    if (const auto text = tuning::read_file(path_)) take_over(tuning::parse(*text), true);
    write();
  });
}

}  // namespace tutti::tools
