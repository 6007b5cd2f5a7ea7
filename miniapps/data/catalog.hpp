// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "part.hpp"

namespace tutti::data {

/// A line of path, length and time of change of an input, for a description. Throws tutti::Error (io) for a file that
/// is not there. Local.
[[nodiscard]] std::string file_identity(const std::filesystem::path& path);

/// The parts of a data set under construction, in the folder PREFIX.parts. Its description says what they were made of:
/// parts of another description are removed, parts of the same one are used again. Held by one run at a time.
class Workspace {
 public:
  /// Collective; blocking. Throws AgreedError where the folder cannot be made or another run holds it.
  Workspace(const Communicator& comm, const std::filesystem::path& prefix, const std::string& description);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] std::filesystem::path part(std::uint64_t file, std::uint64_t piece) const;
  /// Removes the folder: the data set is whole. One rank calls it.
  void remove() const;

 private:
  void hold(const std::string& description);

  std::filesystem::path folder_;
  int lock_ = -1;
};

/// All parts in their order, the same on all ranks.
struct Catalog {
  std::vector<std::filesystem::path> paths;
  std::vector<PartFacts> parts;
  std::vector<std::uint64_t> files;  ///< input file of each part

  [[nodiscard]] std::uint64_t samples() const;
  /// Samples before each part, and all.
  [[nodiscard]] std::vector<std::uint64_t> first_samples() const;
  /// Ids, or lookups, of a table before each part, and all.
  [[nodiscard]] std::vector<std::uint64_t> before(std::vector<std::uint64_t> PartFacts::*what, std::size_t table) const;
};

/// Reads what the parts of `files` input files say; rank 0 reads. Collective; blocking.
[[nodiscard]] Catalog read_catalog(const Communicator& comm, const Workspace& workspace, std::uint64_t files,
                                   std::size_t tables);

/// Calls use(part or nothing, its number) for this rank's parts, as often on every rank: for calls that are collective.
/// Collective where `use` is; blocking.
void for_each_part(const Communicator& comm, const Catalog& catalog,
                   const std::function<void(const PartFile*, std::size_t)>& use);

}  // namespace tutti::data
