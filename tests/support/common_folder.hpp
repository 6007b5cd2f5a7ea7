// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace tutti::test {

/// A folder of its own that all ranks know and that vanishes with the test. Both ends of its life are collective over
/// MPI_COMM_WORLD.
class CommonFolder {
 public:
  CommonFolder() {
    std::array<char, PATH_MAX> name{};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) {
      const std::string pattern = std::filesystem::temp_directory_path() / "tutti-test-XXXXXX";
      pattern.copy(name.data(), name.size() - 1);
      if (::mkdtemp(name.data()) == nullptr) name[0] = '\0';
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (name[0] == '\0') throw std::runtime_error("rank 0 cannot make a folder in its TMPDIR");
    path_ = name.data();
  }
  ~CommonFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove_all(path_, ignored);
  }
  CommonFolder(const CommonFolder&) = delete;
  CommonFolder& operator=(const CommonFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  int rank_ = 0;
  std::filesystem::path path_;
};

}  // namespace tutti::test
