// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/communicator.hpp>
#include <vector>

#include "support/temporary_folder.hpp"

namespace sgd {

/// A folder that all ranks know.
class SharedFolder {
 public:
  explicit SharedFolder(const tutti::Communicator& comm) : comm_(&comm) {
    std::vector<char> name(4096, '\0');
    if (comm.rank() == 0) {
      folder_.emplace();
      folder_->path().string().copy(name.data(), name.size() - 1);
    }
    tutti::bcast(comm, tutti::Buffer(reinterpret_cast<std::uint8_t*>(name.data()), name.size()), 0);
    path_ = name.data();
  }
  ~SharedFolder() { tutti::barrier(*comm_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  const tutti::Communicator* comm_;
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

}  // namespace sgd
